import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { notifyFailure } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Checkbox } from '../../parts/field.tsx';
import { SigningSecret } from './signing-secret.tsx';

interface ShownOnceProps {
  title: string;
  /** Null = no secret: the dialog closes like any other. */
  secret: string | null;
  onDone: () => void;
  /** Buttons beside Done. */
  actions?: ReactNode;
  children?: ReactNode;
}

/** A dialog that may show a signing secret. Then only the button closes it, once the person has stored the secret. */
export function ShownOnce({ title, secret, onDone, actions, children }: ShownOnceProps) {
  const [isStored, setStored] = useState(false);
  useBlocker({
    shouldBlockFn: ({ current, next }) => {
      if (secret === null || current.pathname === next.pathname) return false;
      notifyFailure('Store the secret and tick the box first.');
      return true;
    },
    enableBeforeUnload: secret !== null,
  });
  return (
    <Dialog
      footer={
        <>
          {actions}
          <Button
            autoFocus={secret === null}
            isDisabled={secret !== null && !isStored}
            kind="primary"
            onPress={onDone}
          >
            Done
          </Button>
        </>
      }
      isLocked={secret !== null}
      isOpen
      onClose={onDone}
      title={title}
      wide
    >
      {children}
      {secret !== null && (
        <>
          <SigningSecret secret={secret} />
          <Checkbox isSelected={isStored} onChange={setStored}>
            {secret.startsWith('whpk_') ? 'I have stored the key' : 'I have stored the secret'}
          </Checkbox>
        </>
      )}
    </Dialog>
  );
}
