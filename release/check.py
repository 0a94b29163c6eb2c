"""Checks the artefacts in a folder that release/build wrote.

    check.py FOLDER

Reads every archive and compares digests, names, modes and owners; says what it looked at, or fails with the first
difference. Needs nothing but Python.
"""

import gzip
import hashlib
import io
import json
import pathlib
import re
import sys
import tarfile

COMPLETIONS = ["_trueup", "trueup.bash", "trueup.fish"]
# One page for the program and one for each command that people use most; the program knows the whole list.
PAGES = ["trueup.1", "trueup-plan.1", "trueup-apply.1", "trueup-history-show.1"]


class Wrong(Exception):
    """An artefact is not as it should be."""


def expect(holds, what):
    if not holds:
        raise Wrong(what)


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def members(name, content):
    """The members of a tar.gz by name. Times and owners of the builder are not in it."""
    # Four bytes after the magic and the flags: the time of compression.
    expect(content[4:8] == bytes(4), f"{name}: holds the time it was compressed")
    found = {}
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(content))) as tar:
        infos = tar.getmembers()
        times = {info.mtime for info in infos}
        expect(len(times) == 1, f"{name}: has members of {len(times)} times")
        for info in infos:
            path = info.name.removeprefix("./").rstrip("/")
            expect(not path.startswith("/") and ".." not in path.split("/"), f"{name}: {path} leaves the archive")
            expect(info.uname == info.gname == "", f"{name}: {path} has the name of an owner")
            found[path] = (info, tar.extractfile(info).read() if info.isfile() else b"")
    return found


def sums(folder):
    listed = {}
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ", 1)
        listed[name] = digest
    there = {path.name for path in folder.iterdir() if not path.name.startswith("SHA256SUMS")}
    expect(set(listed) == there, f"SHA256SUMS lists {sorted(listed)}, there are {sorted(there)}")
    for name, digest in listed.items():
        expect(sha256((folder / name).read_bytes()) == digest, f"{name}: is not the file of SHA256SUMS")
    return len(listed)


def tarball(path):
    top = path.name.removesuffix(".tar.gz")
    found = members(path.name, path.read_bytes())
    for name in ["trueup", "LICENSE", "README.md", "CHANGELOG.md"]:
        expect(f"{top}/{name}" in found, f"{path.name}: {name} is missing")
    info, binary = found[f"{top}/trueup"]
    expect(info.mode == 0o755, f"{path.name}: trueup has mode {info.mode:o}")
    for name in [f"completions/{one}" for one in COMPLETIONS] + [f"man/{one}" for one in PAGES]:
        expect(f"{top}/{name}" in found and found[f"{top}/{name}"][1], f"{path.name}: {name} is missing or empty")
    return binary


def deb(path):
    """A Debian package: an ar archive of three members."""
    content = path.read_bytes()
    expect(content[:8] == b"!<arch>\n", f"{path.name}: is not an ar archive")
    at, parts = 8, {}
    while at < len(content):
        header = content[at : at + 60]
        size = int(header[48:58])
        parts[header[:16].decode().strip().rstrip("/")] = content[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    expect(list(parts) == ["debian-binary", "control.tar.gz", "data.tar.gz"], f"{path.name}: has {list(parts)}")
    expect(parts["debian-binary"] == b"2.0\n", f"{path.name}: is not of format 2.0")
    control = members(path.name, parts["control.tar.gz"])
    fields = dict(line.split(": ", 1) for line in control["control"][1].decode().splitlines() if ": " in line)
    name = f"{fields['Package']}_{fields['Version']}_{fields['Architecture']}.deb"
    expect(path.name == name, f"{path.name}: its control file is that of {name}")
    data = members(path.name, parts["data.tar.gz"])
    listed = dict(reversed(line.split("  ", 1)) for line in control["md5sums"][1].decode().splitlines())
    files = {name: hashlib.md5(body).hexdigest() for name, (info, body) in data.items() if info.isfile()}
    expect(listed == files, f"{path.name}: md5sums does not match its files")
    link = data["usr/bin/kubectl-trueup"][0]
    expect(link.issym() and link.linkname == "trueup", f"{path.name}: kubectl-trueup does not lead to trueup")
    pages = [f"usr/share/man/man1/{one}.gz" for one in PAGES]
    expect(all(page in data for page in pages), f"{path.name}: manual pages are missing")
    return data["usr/bin/trueup"][1]


def oci(path):
    """An OCI image layout: every digest and size, and what the image runs as."""
    top = path.name.removesuffix(".tar.gz")
    files = {name.removeprefix(f"{top}/"): body for name, (_, body) in members(path.name, path.read_bytes()).items()}
    expect(json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}, f"{path.name}: is not an OCI layout")
    used = set()

    def blob(descriptor):
        algorithm, digest = descriptor["digest"].split(":")
        body = files[f"blobs/{algorithm}/{digest}"]
        expect(algorithm == "sha256" and sha256(body) == digest, f"{path.name}: blob {digest} has other content")
        expect(len(body) == descriptor["size"], f"{path.name}: blob {digest} has another size")
        used.add(f"blobs/{algorithm}/{digest}")
        return body

    binaries = []
    for index in json.loads(files["index.json"])["manifests"]:
        for entry in json.loads(blob(index))["manifests"]:
            manifest = json.loads(blob(entry))
            config = json.loads(blob(manifest["config"]))
            layers = [gzip.decompress(blob(layer)) for layer in manifest["layers"]]
            diffs = ["sha256:" + sha256(layer) for layer in layers]
            expect(config["rootfs"]["diff_ids"] == diffs, f"{path.name}: diff_ids are not those of the layers")
            expect(config["architecture"] == entry["platform"]["architecture"], f"{path.name}: mixed architectures")
            user = config["config"]["User"].split(":")[0]
            expect(user.isdigit() and user != "0", f"{path.name}: runs as {user or 'root'}")
            with tarfile.open(fileobj=io.BytesIO(layers[0])) as tar:
                names = tar.getnames()
                expect("etc/ssl/certs/ca-certificates.crt" in names, f"{path.name}: has no certificates")
                entry_point = config["config"]["Entrypoint"][0].lstrip("/")
                expect(tar.getmember(entry_point).mode == 0o755, f"{path.name}: {entry_point} is not a program")
                expect(int(user) == tar.getmember("home/nonroot").uid, f"{path.name}: the user has no home")
                binaries.append(tar.extractfile(entry_point).read())
    left = {name for name in files if name.startswith("blobs/sha256/")} - used
    expect(not left, f"{path.name}: nothing refers to {sorted(left)}")
    return binaries


def named_digests(path, archives):
    """The digests a manifest names are those of the archives it names."""
    text = path.read_text()
    urls = re.findall(r'(?:uri: |url ")([^"\s]+)"?', text)
    digests = re.findall(r'sha256:? "?([0-9a-f]{64})', text)
    expect(urls and len(urls) == len(digests), f"{path.name}: {len(urls)} archives and {len(digests)} digests")
    for url, digest in zip(urls, digests):
        archive = archives.get(url.rsplit("/", 1)[1])
        expect(archive and sha256(archive) == digest, f"{path.name}: {url} has another digest")
    return len(urls)


def sbom(path):
    bom = json.loads(path.read_text())
    expect(bom["bomFormat"] == "CycloneDX" and bom["specVersion"] == "1.5", f"{path.name}: is not CycloneDX 1.5")
    references = [one["bom-ref"] for one in bom["components"]] + [bom["metadata"]["component"]["bom-ref"]]
    expect(len(references) == len(set(references)), f"{path.name}: a component is listed twice")
    for one in bom["dependencies"]:
        expect(set([one["ref"], *one["dependsOn"]]) <= set(references), f"{path.name}: {one['ref']} refers to nothing")
    unhashed = [one["name"] for one in bom["components"] if "hashes" not in one and not one["name"].startswith("trueup")]
    expect(not unhashed, f"{path.name}: no checksum for {unhashed}")
    return len(references)


def check(folder):
    archives = {path.name: path.read_bytes() for path in folder.glob("trueup-*.tar.gz")}
    said = [f"{sums(folder)} files as in SHA256SUMS"]
    binaries = {}
    for path in sorted(folder.glob("trueup-*.tar.gz")):
        if path.name.endswith("-oci.tar.gz"):
            said.append(f"image for {len(oci(path))} architectures")
        else:
            binaries[path.name] = tarball(path)
            said.append(path.name)
    for path in sorted(folder.glob("*.deb")):
        expect(deb(path) in binaries.values(), f"{path.name}: its binary is in no archive")
        said.append(path.name)
    for name in ["trueup.yaml", "trueup.rb"]:
        said.append(f"{name} for {named_digests(folder / name, archives)} platforms")
    for path in folder.glob("*.cdx.json"):
        said.append(f"SBOM of {sbom(path)} crates")
    return said


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        print("release: checked: " + "; ".join(check(pathlib.Path(sys.argv[1]))), file=sys.stderr)
    except (Wrong, KeyError, ValueError, tarfile.TarError, OSError) as error:
        sys.exit(f"release: {error!r}" if isinstance(error, KeyError) else f"release: {error}")
