import { useQueryClient } from '@tanstack/react-query';
import { send } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { NewPasswordField } from '../../parts/new-password-field.tsx';
import { Section } from '../../parts/page.tsx';
import { useAction } from '../../parts/use-action.ts';
import { useDraft } from '../../parts/use-draft.ts';
import { type Profile, useProfile } from '../../shell/profile.ts';

/** Changes the password. With single sign-on, the identity provider manages it. */
export function Password() {
  const { login } = useProfile();
  if (!login.single_sign_on) return <PasswordForm login={login} />;
  return (
    <Section title="Password">
      <p>You sign in with single sign-on. Change your password at your identity provider.</p>
    </Section>
  );
}

function PasswordForm({ login }: { login: Profile['login'] }) {
  const { draft, change, bind } = useDraft({ current: '', next: '' });
  const queries = useQueryClient();
  const save = useAction({
    request: () =>
      send('POST', '/me/password', {
        ...(login.has_password && { current: draft.current }),
        next: draft.next,
      }),
    done: 'Password changed. Your other sessions are signed out.',
    onDone: async () => {
      change({ current: '', next: '' });
      await queries.invalidateQueries();
    },
  });
  return (
    <Section description="Changing your password signs out all your other sessions." title="Password">
      <Form className="own-form" error={save.error} onSubmit={() => save.mutate()}>
        {/* Password managers look for the user name. */}
        <input autoComplete="username" hidden readOnly type="email" value={login.email} />
        {login.has_password && (
          <TextField
            {...bind('current')}
            autoComplete="current-password"
            isRequired
            label="Current password"
            type="password"
          />
        )}
        <NewPasswordField {...bind('next')} label="New password" />
        <Button isPending={save.isPending} type="submit">
          {login.has_password ? 'Change password' : 'Set password'}
        </Button>
      </Form>
    </Section>
  );
}
