import ssh from 'ssh2';

/** A key pair for SSH, of Ed25519. The library makes one in some hundreds that it can't read itself: never such a one. */
export function makeSshKey(): { private: string; public: string } {
  for (;;) {
    const pair = ssh.utils.generateKeyPairSync('ed25519');
    if (!(ssh.utils.parseKey(pair.private) instanceof Error)) return pair;
  }
}
