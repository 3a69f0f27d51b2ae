/**
 * Why a collector and a service of these versions do not work together, as a sentence; null = they do. Between two minor versions that
 * follow each other nothing is taken away that the other one needs.
 */
export function versionProblem(collector: string, service: string): string | null {
  const [major = 0, minor = 0] = collector.split('.').map(Number.parseFloat);
  const [ownMajor = 0, ownMinor = 0] = service.split('.').map(Number.parseFloat);
  if (major === ownMajor && Math.abs(minor - ownMinor) <= 1) return null;
  return `The collector has version ${plain(collector)} and the service ${plain(service)}: they may be one minor version apart. Update the older one.`;
}

/** A version without its build. */
function plain(version: string): string {
  return version.split('+')[0] ?? version;
}
