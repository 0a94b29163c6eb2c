"""Writes an OCI image layout without a daemon: one static binary, CA certificates, and a user that is not root.

    oci.py write FOLDER VERSION CERTIFICATES ARCHITECTURE=BINARY...

The same files and SOURCE_DATE_EPOCH give the same digests. Formats: image-spec 1.1 of the Open Container Initiative.
"""

import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import sys
import tarfile

EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
# The user "nonroot" of distroless images, which admission rules know.
USER = 65532
PASSWD = f"root:x:0:0:root:/:/sbin/nologin\nnonroot:x:{USER}:{USER}:nonroot:/home/nonroot:/sbin/nologin\n"
GROUP = f"root:x:0:\nnonroot:x:{USER}:\n"

LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
CONFIG = "application/vnd.oci.image.config.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def dumps(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


class Layout:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.blobs = self.folder / "blobs" / "sha256"
        self.blobs.mkdir(parents=True)

    def add(self, media_type, content, **more):
        """Writes a blob and returns its descriptor."""
        name = digest(content)
        (self.blobs / name.removeprefix("sha256:")).write_bytes(content)
        return {"mediaType": media_type, "digest": name, "size": len(content), **more}

    def finish(self, index):
        (self.folder / "oci-layout").write_bytes(dumps({"imageLayoutVersion": "1.0.0"}))
        (self.folder / "index.json").write_bytes(dumps(index))


def layer(binary, certificates):
    """The files of the image, as a tar."""
    folders = ["etc", "etc/ssl", "etc/ssl/certs", "home", "usr", "usr/bin"]
    files = {
        "etc/group": (GROUP.encode(), 0o644),
        "etc/passwd": (PASSWD.encode(), 0o644),
        "etc/ssl/certs/ca-certificates.crt": (certificates, 0o644),
        "usr/bin/trueup": (binary, 0o755),
    }
    entries = [(name, None, 0o755, 0) for name in folders]
    # The state needs a folder that its user can write to. OpenShift runs images as any user of group 0.
    entries += [("home/nonroot", None, 0o770, USER), ("tmp", None, 0o1777, 0)]
    entries += [(name, content, mode, 0) for name, (content, mode) in files.items()]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content, mode, owner in sorted(entries):
            info = tarfile.TarInfo(name)
            info.mtime, info.mode, info.uid = EPOCH, mode, owner
            info.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
            info.size = len(content or b"")
            tar.addfile(info, io.BytesIO(content or b""))
    return buffer.getvalue()


def image(layout, version, architecture, binary, certificates):
    """Adds the image of one architecture and returns the descriptor of its manifest."""
    created = datetime.datetime.fromtimestamp(EPOCH, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    tar = layer(binary, certificates)
    labels = {
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.title": "trueup",
        "org.opencontainers.image.version": version,
    }
    config = {
        "architecture": architecture,
        "config": {
            "Entrypoint": ["/usr/bin/trueup"],
            "Env": [
                "HOME=/home/nonroot",
                "PATH=/usr/bin",
                "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",
            ],
            "Labels": labels,
            "User": f"{USER}:{USER}",
            "WorkingDir": "/home/nonroot",
        },
        "created": created,
        "history": [{"created": created, "created_by": "release/oci.py"}],
        "os": "linux",
        "rootfs": {"diff_ids": [digest(tar)], "type": "layers"},
    }
    manifest = {
        "annotations": labels,
        "config": layout.add(CONFIG, dumps(config)),
        "layers": [layout.add(LAYER, gzip.compress(tar, 9, mtime=0))],
        "mediaType": MANIFEST,
        "schemaVersion": 2,
    }
    return layout.add(MANIFEST, dumps(manifest), platform={"architecture": architecture, "os": "linux"})


def write(folder, version, certificates, binaries):
    layout = Layout(folder)
    certificates = pathlib.Path(certificates).read_bytes()
    manifests = []
    for binary in binaries:
        architecture, path = binary.split("=", 1)
        manifests.append(image(layout, version, architecture, pathlib.Path(path).read_bytes(), certificates))
    index = {"manifests": manifests, "mediaType": INDEX, "schemaVersion": 2}
    named = {"org.opencontainers.image.ref.name": version}
    layout.finish({**index, "manifests": [layout.add(INDEX, dumps(index), annotations=named)]})


if __name__ == "__main__":
    if len(sys.argv) < 6 or sys.argv[1] != "write":
        sys.exit(__doc__)
    write(*sys.argv[2:5], sys.argv[5:])
