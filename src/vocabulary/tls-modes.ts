/** The TLS modes of connections, as stored in `connection.tls`, most secure first. */
export const TLS_MODES = ['verify-full', 'require', 'disable'] as const;

export type TlsMode = (typeof TLS_MODES)[number];

/** Whether a mode is less secure than another. */
export function isWeakerTls(mode: TlsMode, than: TlsMode): boolean {
  return TLS_MODES.indexOf(mode) > TLS_MODES.indexOf(than);
}
