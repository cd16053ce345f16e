"""Builds what is released, for every target, on one Linux machine.

    release.py OUT CACHE [TARGET ...]

For each target: an archive of the program with its licences, a .vsix with the same
program, and an SBOM (CycloneDX) of each; then SHA256SUMS over all of them. The C
compiler is Zig's, of the environment that runs this. Archives hold the times of the
commit and no names of users, so that the same commit gives the same bytes.
"""

import gzip
import hashlib
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import time
import uuid
import zipfile
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

REPOSITORY = Path(__file__).resolve().parent.parent
EXTENSION = REPOSITORY / "editors/vscode"
NAME = "coderag-ls"
# The oldest glibc that the Linux programs run with (RHEL 8, Debian 10, Ubuntu 18.10).
GLIBC = (2, 28)


@dataclass(frozen=True)
class Target:
    """A platform by the name that .vsix packages have for it."""

    name: str
    goos: str
    goarch: str
    zig: str
    magic: bytes  # that the program begins with
    emulator: tuple = ()  # a command that runs the program on another machine, where it is installed

    @property
    def program(self):
        return NAME + (".exe" if self.goos == "windows" else "")

    @property
    def runner(self):
        """What the program is started with here: nothing, an emulator, or None where it cannot be."""
        machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine())
        if platform.system().lower() == self.goos and machine == self.goarch:
            return ()
        return self.emulator if self.emulator and shutil.which(self.emulator[0]) else None


TARGETS = {
    t.name: t
    for t in (
        Target("linux-x64", "linux", "amd64", f"x86_64-linux-gnu.{GLIBC[0]}.{GLIBC[1]}", b"\x7fELF"),
        # Debian: qemu-user-static and libc6-arm64-cross. Its Wine 8 is too old for Go: it has no bcryptprimitives.dll.
        Target("linux-arm64", "linux", "arm64", f"aarch64-linux-gnu.{GLIBC[0]}.{GLIBC[1]}", b"\x7fELF", ("qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu")),
        Target("win32-x64", "windows", "amd64", "x86_64-windows-gnu", b"MZ"),
    )
}


def run(*command, **environment):
    """Runs a command in the repository; returns what it writes."""
    done = subprocess.run(command, cwd=REPOSITORY, env=os.environ | environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"release: {' '.join(map(str, command))} ended with {done.returncode}")
    return done.stdout


def build(target, file, cache):
    """Builds the program for a target and looks at what came out."""
    zig = f"{sys.executable} -m ziglang"
    run(
        os.environ.get("GO", "go"), "build", "-buildvcs=true", "-trimpath", "-ldflags", "-s -w", "-o", file, f"./cmd/{NAME}",
        GOOS=target.goos, GOARCH=target.goarch, CGO_ENABLED="1", CC=f"{zig} cc -target {target.zig}", CXX=f"{zig} c++ -target {target.zig}",
        CGO_CFLAGS="-O2 -w", CGO_CXXFLAGS="-O2 -w",  # warnings of grammars that are not ours
        ZIG_GLOBAL_CACHE_DIR=str(cache / "zig"), ZIG_LOCAL_CACHE_DIR=str(cache / "zig"),
    )  # fmt: skip
    content = file.read_bytes()
    if not content.startswith(target.magic):
        raise SystemExit(f"release: {file} is no program for {target.name}")
    wanted = max((tuple(map(int, v.split(b"."))) for v in re.findall(rb"GLIBC_(\d+\.\d+)\b", content)), default=(0, 0))
    if wanted > GLIBC:
        raise SystemExit(f"release: {file} needs glibc {wanted[0]}.{wanted[1]}, newer than {GLIBC[0]}.{GLIBC[1]}")


def modules(program):
    """The Go modules in a program, as it tells them itself."""
    info = json.loads(run(os.environ.get("GO", "go"), "version", "-m", "-json", program))
    return [dep.get("Replace", dep) for dep in info["Deps"]]


def licences(deps):
    """The licences of Go modules, word for word."""
    parts = [f"{NAME} holds parts of the Go modules below.\n"]
    names = [f"{dep['Path']}@{dep['Version']}" for dep in deps]
    decoder, text, at = json.JSONDecoder(), run(os.environ.get("GO", "go"), "mod", "download", "-json", *names), 0
    while text[at:].strip():
        module, end = decoder.raw_decode(text[at:].lstrip())
        at += len(text[at:]) - len(text[at:].lstrip()) + end
        files = sorted(f for f in Path(module["Dir"]).iterdir() if re.match(r"(?i)(licen[cs]e|copying|notice|patents)\b", f.name) and f.is_file())
        if not files:
            raise SystemExit(f"release: {module['Path']} {module['Version']} carries no licence")
        parts += [f"{module['Path']} {module['Version']}: {f.name}\n\n{f.read_text('utf-8', 'replace').strip()}\n" for f in files]
    root = Path(run(os.environ.get("GO", "go"), "env", "GOROOT").strip())
    parts.append(f"The Go standard library: LICENSE\n\n{(root / 'LICENSE').read_text('utf-8').strip()}\n")
    return f"\n{'-' * 72}\n\n".join(parts)


def sbom(file, what, version, made, deps, packages=()):
    """Writes a CycloneDX document of Go modules and npm packages."""
    bom = Bom()
    bom.metadata.timestamp = made
    bom.metadata.component = root = Component(name=what, version=version, type=ComponentType.APPLICATION, bom_ref=what)
    licence = LicenseFactory()
    found = []
    for dep in deps:
        namespace, _, name = dep["Path"].rpartition("/")
        found.append(Component(name=dep["Path"], version=dep["Version"], purl=PackageURL("golang", namespace or None, name, dep["Version"]), bom_ref=f"{dep['Path']}@{dep['Version']}"))
    for package in packages:
        namespace, _, name = package["name"].rpartition("/")
        found.append(Component(
            name=package["name"], version=package["version"], purl=PackageURL("npm", namespace or None, name, package["version"]),
            licenses=[licence.make_from_string(package["license"])], bom_ref=f"npm:{package['name']}@{package['version']}",
        ))  # fmt: skip
    for component in found:
        bom.components.add(component)
    bom.register_dependency(root, found)
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, f"{what}@{version}")
    make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_to_file(str(file), allow_overwrite=True, indent=1)


def archive(file, folder, members, when):
    """Writes a .zip or .tar.gz of members (name, content, mode) in a folder."""
    if file.suffix == ".zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
            for name, content, mode in members:
                entry = zipfile.ZipInfo(f"{folder}/{name}", time.gmtime(max(when, 315532800))[:6])
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
                out.writestr(entry, content)
        return
    with open(file, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed, tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as out:
        for name, content, mode in members:
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mode, entry.mtime = len(content), mode, when
            out.addfile(entry, io.BytesIO(content))


def check(file, folder, target, work):
    """Unpacks an archive and asks its program something."""
    shutil.rmtree(work, ignore_errors=True)
    (work / "src").mkdir(parents=True)
    shutil.unpack_archive(file, work, **({} if file.suffix == ".zip" else {"filter": "data"}))
    (work / "src/lamp.py").write_text('def dim_lamp(lamp):\n    """Dim the lamp until it is off."""\n    lamp.off()\n')
    unpacked = work / folder / target.program
    start = (*target.runner, unpacked)
    env = {"HOME": str(work), "XDG_CACHE_HOME": str(work / "cache"), "XDG_CONFIG_HOME": str(work / "config")}
    answer = json.loads(run(*start, "ask", "--json", "--root", work / "src", "what dims the lamp?", **env))
    if [c["id"] for c in answer["citations"]][:1] != ["lamp.py:1-3"]:
        raise SystemExit(f"release: {unpacked} answers {answer['citations']}")
    print(f"release: {file.name} was unpacked and answers{f' under {Path(start[0]).name}' if target.runner else ''} ({run(*start, 'version', **env).strip()})", flush=True)
    shutil.rmtree(work)


def main(out, cache, *names):
    out, cache = Path(out).resolve(), Path(cache).resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    version = json.loads((EXTENSION / "package.json").read_text())["version"]
    when = int(run("git", "log", "-1", "--format=%ct"))
    made = datetime.fromtimestamp(when, timezone.utc)
    for target in [TARGETS[name] for name in names or TARGETS]:
        program = cache / "release" / target.name / target.program
        build(target, program, cache)
        deps = modules(program)
        notices = program.with_name("THIRD_PARTY_LICENSES.txt")
        notices.write_text(licences(deps), encoding="utf-8")
        folder = f"{NAME}-{version}-{target.name}"
        members = [(target.program, program.read_bytes(), 0o755)] + [(f.name, f.read_bytes(), 0o644) for f in (REPOSITORY / "LICENSE", REPOSITORY / "NOTICE", notices, REPOSITORY / "README.md")]
        packed = out / (folder + (".zip" if target.goos == "windows" else ".tar.gz"))
        archive(packed, folder, members, when)
        sbom(out / f"{folder}.cdx.json", f"{NAME} for {target.name}", version, made, deps)

        stage, bundled = program.parent / "stage", program.with_name("bundled.json")
        vsix = out / f"coderag-{version}-{target.name}.vsix"
        run("node", EXTENSION / "scripts/stage.mjs", "--out", stage, "--server", program, "--licences", notices, "--components", bundled)
        run("node", EXTENSION / "scripts/package.mjs", stage, target.name, vsix)
        sbom(out / f"{vsix.name}.cdx.json", f"coderag.vsix for {target.name}", version, made, deps, json.loads(bundled.read_text()))
        print(f"release: {target.name}: {packed.name} {packed.stat().st_size / 2**20:.1f} MiB, {vsix.name} {vsix.stat().st_size / 2**20:.1f} MiB, {len(deps)} Go modules", flush=True)
        if target.runner is not None:
            check(packed, folder, target, program.parent / "check")
        else:
            print(f"release: {target.name} was built; this machine cannot run it", flush=True)
    sums = [f"{hashlib.sha256(f.read_bytes()).hexdigest()}  {f.name}\n" for f in sorted(out.iterdir())]
    (out / "SHA256SUMS").write_text("".join(sums))


if __name__ == "__main__":
    main(*sys.argv[1:])
