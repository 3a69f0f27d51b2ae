import ssh from 'ssh2';

/** An Ed25519 key pair for SSH. Retries when the library creates a key that it can't read, about one in some hundreds. */
export function makeSshKey(): { private: string; public: string } {
  for (;;) {
    const pair = ssh.utils.generateKeyPairSync('ed25519');
    if (!(ssh.utils.parseKey(pair.private) instanceof Error)) return pair;
  }
}
