import type { Config } from './config.ts';

/** The URL of a service that listens on `port`, such as `https://[::1]:8080/dbvitals`. */
export function urlOf(
  { host, tlsFiles, basePath }: Pick<Config, 'host' | 'tlsFiles' | 'basePath'>,
  port: number,
): string {
  return `${tlsFiles ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}${basePath}`;
}

/**
 * The address of the console in a browser: below `DBVITALS_PUBLIC_URL` if that is set, else where the service listens.
 * Loopback is `localhost`, because browsers make no passkeys for 127.0.0.1.
 */
export function consoleUrl(
  config: Pick<Config, 'host' | 'tlsFiles' | 'basePath' | 'publicUrl'>,
  port: number,
): string {
  if (config.publicUrl !== null) return `${config.publicUrl}${config.basePath}`;
  const isLoopback = config.host === '127.0.0.1' || config.host === '::1';
  return urlOf({ ...config, host: isLoopback ? 'localhost' : config.host }, port);
}

/** The only origin where passkeys work: `DBVITALS_PUBLIC_URL`, else localhost. No request header changes it. */
export function passkeyOrigin(config: Pick<Config, 'tlsFiles' | 'publicUrl'>, port: number): string {
  return config.publicUrl ?? urlOf({ ...config, host: 'localhost', basePath: '' }, port);
}
