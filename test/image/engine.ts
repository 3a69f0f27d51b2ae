import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes a `docker` command into `folder` that runs Podman with all its data there, and returns its environment. Containers
 * have no network; `RUN` uses the machine's network, npm registry and certificates.
 */
export function engine(folder: string, npmrc: string): Record<string, string> {
  const place = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  mkdirSync(join(folder, 'bin'));
  const secret = place('npmrc', npmrc);
  const docker = place(
    'bin/docker',
    `#!/bin/sh
[ "$1" != build ] || { shift; set -- build --pull=never --secret id=npmrc,src=${secret} --volume /etc/ssl/certs:/etc/ssl/certs:ro "$@"; }
exec podman "$@"
`,
  );
  chmodSync(docker, 0o755);
  return {
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    BUILDAH_ISOLATION: 'chroot',
    BUILDAH_FORMAT: 'docker',
    CONTAINERS_STORAGE_CONF: place(
      'storage.conf',
      `[storage]
driver = "overlay"
graphroot = "${join(folder, 'images')}"
runroot = "${join(folder, 'run')}"
`,
    ),
    // Podman raises limits by default, which may not be permitted here.
    CONTAINERS_CONF: place(
      'containers.conf',
      `[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
log_driver = "k8s-file"
netns = "none"

[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
runtime = "runc"
`,
    ),
  };
}
