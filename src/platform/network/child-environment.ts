const NAMES = ['PATH', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];

// A lookup takes a thread for as long as the resolver hangs: glibc gives up after these options, at most 8 s with two servers. libuv
// gives lookups half of the threads, which take 1 MB together.
const LOOKUPS = { UV_THREADPOOL_SIZE: '128', RES_OPTIONS: 'timeout:2 attempts:2' };

/**
 * The environment of a child process that talks to strangers: which authorities it trusts, enough threads for names that nobody
 * answers for, and no other variable, because they may contain the store's password and the secret key.
 */
export function childEnvironment(): Record<string, string> {
  const own = NAMES.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []));
  return { ...Object.fromEntries(own), ...LOOKUPS };
}
