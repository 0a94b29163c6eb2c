"""Makes an SBOM (CycloneDX 1.5, JSON) of the binary from what cargo knows.

    cargo metadata --locked --format-version 1 --filter-platform TARGET | sbom.py Cargo.lock

Holds every crate that is linked into the binary or runs while it is built; crates for tests and other platforms are left
out. The same Cargo.lock and SOURCE_DATE_EPOCH give the same bytes.
"""

import datetime
import json
import os
import sys
import tomllib
import uuid

# Names the serial number of an SBOM by its content.
NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")


def needed(node):
    """The packages that a package needs to be built, not to be tested."""
    for dependency in node["deps"]:
        if any(kind["kind"] in (None, "build") for kind in dependency["dep_kinds"]):
            yield dependency["pkg"]


def reachable(nodes, root):
    seen, waiting = {root}, [root]
    while waiting:
        for package in needed(nodes[waiting.pop()]):
            if package not in seen:
                seen.add(package)
                waiting.append(package)
    return seen


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, checksums, kind="library"):
    made = {
        "type": kind,
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "purl": purl(package),
    }
    if package["description"]:
        made["description"] = " ".join(package["description"].split())
    if package["license"]:
        # Old manifests separate licences with a slash.
        made["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    checksum = checksums.get((package["name"], package["version"]))
    if checksum:
        made["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package["repository"]:
        made["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return made


def sbom(metadata, lock):
    checksums = {(one["name"], one["version"]): one.get("checksum") for one in lock["package"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    root = metadata["resolve"]["root"]
    seen = reachable(nodes, root)
    linked = sorted((packages[package] for package in seen - {root}), key=purl)
    dependencies = [
        {"ref": purl(packages[package]), "dependsOn": sorted({purl(packages[one]) for one in needed(nodes[package])})}
        for package in sorted(seen, key=lambda package: purl(packages[package]))
    ]
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": component(packages[root], checksums, kind="application"),
        },
        "components": [component(package, checksums) for package in linked],
        "dependencies": dependencies,
    }
    serial = uuid.uuid5(NAMESPACE, json.dumps(bom, sort_keys=True))
    return {**bom, "serialNumber": f"urn:uuid:{serial}"}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as file:
        lock = tomllib.load(file)
    json.dump(sbom(json.load(sys.stdin), lock), sys.stdout, indent=1, sort_keys=True)
    print()
