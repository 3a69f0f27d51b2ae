import { useMutation } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { apiUrl, send, setReauthenticator } from '../api.ts';
import { Button } from '../parts/button.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { hasPasskeys, proveByPasskey } from '../parts/passkey.ts';
import { useProfile } from './profile.ts';

/**
 * Asks the signed-in person to confirm their identity when a change of credentials requires it. The change then
 * continues.
 */
export function Reauthenticate() {
  const [settle, setSettle] = useState<((proved: boolean) => void) | null>(null);
  useEffect(() => setReauthenticator(() => new Promise((resolve) => setSettle(() => resolve))), []);
  const close = (proved: boolean) => {
    settle?.(proved);
    setSettle(null);
  };
  return settle && <ReauthenticationDialog onClose={close} />;
}

function ReauthenticationDialog({ onClose }: { onClose: (proved: boolean) => void }) {
  const { login } = useProfile();
  const { href } = useLocation();
  const [password, setPassword] = useState('');
  const byPassword = useMutation({
    mutationFn: () => send('POST', '/me/proof', { password }),
    onSuccess: () => onClose(true),
    onError: () => setPassword(''),
  });
  const byPasskey = useMutation({
    mutationFn: () => proveByPasskey('/me/proof/passkey'),
    onSuccess: () => onClose(true),
  });
  return (
    <FormDialog
      action="Confirm"
      isDisabled={!login.has_password}
      onClose={() => onClose(false)}
      title="Confirm your identity"
      work={{
        error: byPassword.error ?? byPasskey.error,
        isPending: byPassword.isPending || byPasskey.isPending,
        mutate: byPassword.mutate,
      }}
    >
      <p>You signed in more than 10 minutes ago. Sign in again to make this change.</p>
      {/* Password managers look for the user name. */}
      <input autoComplete="username" hidden readOnly type="email" value={login.email} />
      {login.has_password && (
        <TextField
          autoComplete="current-password"
          autoFocus
          parameter="password"
          isRequired
          label="Your password"
          onChange={setPassword}
          type="password"
          value={password}
        />
      )}
      {hasPasskeys && login.passkeys.length > 0 && (
        <Button
          icon="key"
          onPress={() => {
            byPassword.reset();
            byPasskey.mutate();
          }}
        >
          Use a passkey
        </Button>
      )}
      {login.single_sign_on && (
        <a className="button plain" href={apiUrl('/sign-in/oidc', { next: href })}>
          Sign in again with single sign-on
        </a>
      )}
    </FormDialog>
  );
}
