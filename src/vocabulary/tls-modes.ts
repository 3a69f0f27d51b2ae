/**
 * The TLS modes of connections, as stored in `connection.tls`, most secure first. `verify-full` verifies the server's
 * certificate and host name. `verify-ca` verifies the certificate only, by the connection's own authority: it is for
 * certificates that name no host, such as those that MySQL generates at its first start.
 */
export const TLS_MODES = ['verify-full', 'verify-ca', 'require', 'disable'] as const;

export type TlsMode = (typeof TLS_MODES)[number];

/** Whether the mode verifies the server's certificate. */
export function verifiesServer(mode: TlsMode): boolean {
  return mode === 'verify-full' || mode === 'verify-ca';
}

/** Whether a mode is less secure than another. */
export function isWeakerTls(mode: TlsMode, than: TlsMode): boolean {
  return TLS_MODES.indexOf(mode) > TLS_MODES.indexOf(than);
}
