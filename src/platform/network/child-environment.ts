const NAMES = ['PATH', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];

/**
 * The environment of a child process that talks to strangers: which authorities it trusts, and no other variable, because they may
 * contain the store's password and the secret key.
 */
export function childEnvironment(): Record<string, string> {
  return Object.fromEntries(NAMES.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
