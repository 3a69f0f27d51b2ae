import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes into `folder` what makes `docker` Podman with everything in there, and gives the environment for it. Containers have no
 * network, `RUN` has the machine's: its registry, by what npm is told here, and its certificates.
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
    // Whoever runs this may lack the right to raise a limit, which Podman does of itself.
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
