import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { notifyFailure } from './announcer.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Checkbox } from './field.tsx';

interface ShownOnceProps {
  title: string;
  /** What the person does with the secret, such as `stored the key`. Null if the dialog shows none: it closes like any other. */
  kept: string | null;
  onDone: () => void;
  /** Buttons beside Done. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A dialog that shows a secret once. Only the button closes it, once the person has confirmed that the secret is kept. */
export function ShownOnce({ title, kept, onDone, actions, children }: ShownOnceProps) {
  const [isKept, setKept] = useState(false);
  const isLocked = kept !== null;
  const sentence = `I have ${kept}`;
  useBlocker({
    shouldBlockFn: ({ current, next }) => {
      if (!isLocked || current.pathname === next.pathname) return false;
      notifyFailure(`Tick “${sentence}” first.`);
      return true;
    },
    enableBeforeUnload: isLocked,
  });
  return (
    <Dialog
      footer={
        <>
          {actions}
          <Button autoFocus={!isLocked} isDisabled={isLocked && !isKept} kind="primary" onPress={onDone}>
            Done
          </Button>
        </>
      }
      isLocked={isLocked}
      onClose={onDone}
      title={title}
      wide
    >
      {children}
      {isLocked && (
        <Checkbox isSelected={isKept} onChange={setKept}>
          {sentence}
        </Checkbox>
      )}
    </Dialog>
  );
}
