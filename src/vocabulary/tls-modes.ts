/** How a connection is encrypted, as `connection.tls` has it; the best protected first. */
export const TLS_MODES = ['verify-full', 'require', 'disable'] as const;

export type TlsMode = (typeof TLS_MODES)[number];

/** Whether a mode protects less than another. */
export function isWeakerTls(mode: TlsMode, than: TlsMode): boolean {
  return TLS_MODES.indexOf(mode) > TLS_MODES.indexOf(than);
}
