"""Writes the krew manifest and the Homebrew formula of the archives in a folder.

    manifests.py FOLDER VERSION URL
"""

import hashlib
import pathlib
import sys

SUMMARY = "Compare a fleet with what it should be; repair by plan"
DESCRIPTION = """\
trueup compares what should exist in a fleet of Kubernetes and OpenShift
clusters with what does, and explains every difference with evidence. It
writes only through a plan that was previewed and approved.

  kubectl trueup                    console on the current context
  kubectl trueup plan               findings and fixes as a table
  kubectl trueup explain FINDING    one finding with its evidence
"""
CAVEATS = """\
Options go after the name: kubectl trueup --context NAME plan
"""
# Rust target: operating system and architecture as krew spells them, as Homebrew does. The static binary comes first.
PLATFORMS = {
    "x86_64-unknown-linux-musl": (("linux", "amd64"), ("on_linux", "on_intel")),
    "x86_64-unknown-linux-gnu": (("linux", "amd64"), ("on_linux", "on_intel")),
    "aarch64-unknown-linux-musl": (("linux", "arm64"), ("on_linux", "on_arm")),
    "aarch64-unknown-linux-gnu": (("linux", "arm64"), ("on_linux", "on_arm")),
    "x86_64-apple-darwin": (("darwin", "amd64"), ("on_macos", "on_intel")),
    "aarch64-apple-darwin": (("darwin", "arm64"), ("on_macos", "on_arm")),
}


def archives(folder, version):
    """The archives that are there: one of each platform, with its digest."""
    found = {}
    for target, (krew, brew) in PLATFORMS.items():
        path = folder / f"trueup-{version}-{target}.tar.gz"
        if path.exists() and krew not in found:
            found[krew] = (path.name, hashlib.sha256(path.read_bytes()).hexdigest(), target, brew)
    return found


def indented(text, spaces):
    return "".join(f"{' ' * spaces}{line}\n" if line else "\n" for line in text.splitlines())


def krew(version, url, found):
    platforms = ""
    for (system, architecture), (name, digest, target, _) in found.items():
        platforms += f"""\
    - selector:
        matchLabels:
          os: {system}
          arch: {architecture}
      uri: {url}/{name}
      sha256: {digest}
      files:
        - from: trueup-{version}-{target}/trueup
          to: .
        - from: trueup-{version}-{target}/LICENSE
          to: .
      bin: trueup
"""
    return f"""\
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: trueup
spec:
  version: v{version}
  shortDescription: {SUMMARY}
  description: |
{indented(DESCRIPTION, 4)}\
  caveats: |
{indented(CAVEATS, 4)}\
  platforms:
{platforms}"""


def formula(version, url, found):
    systems = {}
    for name, digest, _, (system, processor) in found.values():
        systems.setdefault(system, []).append((processor, name, digest))
    blocks = ""
    for system, processors in systems.items():
        blocks += f"\n  {system} do\n"
        for processor, name, digest in processors:
            blocks += f'    {processor} do\n      url "{url}/{name}"\n      sha256 "{digest}"\n    end\n'
        blocks += "  end\n"
    return f"""\
class Trueup < Formula
  desc "Compare fleets of Kubernetes and OpenShift clusters with what they should be"
  version "{version}"
  license "Apache-2.0"
{blocks}
  def install
    bin.install "trueup"
    bin.install_symlink "trueup" => "kubectl-trueup"
    bash_completion.install "completions/trueup.bash" => "trueup"
    zsh_completion.install "completions/_trueup"
    fish_completion.install "completions/trueup.fish"
    man1.install Dir["man/*.1"]
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/trueup --version")
  end
end
"""


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    folder, version, url = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3].rstrip("/")
    found = archives(folder, version)
    if not found:
        sys.exit(f"release: no archive of version {version} in {folder}")
    (folder / "trueup.yaml").write_text(krew(version, url, found))
    (folder / "trueup.rb").write_text(formula(version, url, found))
