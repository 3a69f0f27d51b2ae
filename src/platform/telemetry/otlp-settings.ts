// What the settings of traces and metrics share.

/** Reads one setting with `parse`; `absent` if it is unset. An error that `parse` throws becomes a problem. */
export type Setting = <T, A>(name: string, absent: A, parse: (text: string) => T) => T | A;

export function isDisabled(setting: Setting): boolean {
  return setting('OTEL_SDK_DISABLED', '', (text) => text.toLowerCase()) === 'true';
}

export function parseOtlpOrNone(name: string, text: string): 'otlp' | 'none' {
  if (text === 'otlp' || text === 'none') return text;
  throw new Error(`${name} must be otlp or none.`);
}

export function parseEndpoint(name: string, text: string): string {
  const { protocol, username, password } = URL.canParse(text) ? new URL(text) : { protocol: '' };
  if (/^https?:$/.test(protocol) && !username && !password) return text;
  throw new Error(
    `${name} must be a URL such as http://collector.example.com:4318; put credentials into OTEL_EXPORTER_OTLP_HEADERS.`,
  );
}

export function parseProtocol(name: string, text: string): string {
  if (text === 'http/protobuf') return text;
  throw new Error(`${name} must be http/protobuf: dbvitals supports no other protocol.`);
}

export function parseMilliseconds(name: string, text: string): number {
  if (/^[1-9][0-9]{0,6}$/.test(text)) return Number(text);
  throw new Error(`${name} must be milliseconds, 1 to 9999999.`);
}
