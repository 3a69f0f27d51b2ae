import { useBlocker } from '@tanstack/react-router';
import { useState } from 'react';
import type { IssuedToken } from '../../../../src/console-api/collectors/collector-routes.ts';
import { serviceUrl } from '../../base-path.ts';
import { notifyFailure } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Checkbox } from '../../parts/field.tsx';
import { startCommand } from '../../parts/start-command.ts';
import { Time } from '../../parts/time.tsx';

/** Shows a token once, with the command that uses it. Only the button closes it, after the person confirms that it is copied. */
export function TokenDialog({ issued, onDone }: { issued: IssuedToken; onDone: () => void }) {
  const [isCopied, setCopied] = useState(false);
  useBlocker({
    shouldBlockFn: ({ current, next }) => {
      if (current.pathname === next.pathname) return false;
      notifyFailure('Copy the command and tick the box first.');
      return true;
    },
    enableBeforeUnload: true,
  });
  const { name, token, expires_at } = issued;
  return (
    <Dialog
      footer={
        <Button isDisabled={!isCopied} kind="primary" onPress={onDone}>
          Done
        </Button>
      }
      isLocked
      isOpen
      onClose={onDone}
      title="Start the collector"
      wide
    >
      <p>
        Run this beside the databases, as the user of <bdi>{name}</bdi>. This is the only time that the token
        is shown. It works once, until <Time as="full" at={expires_at} />.
      </p>
      <CodeBlock text={startCommand(serviceUrl(), name, token)} what="command" />
      <p className="quiet">
        It expects the connections with their logins in <code>collector.yaml</code>, which only its user may
        read. Compare the fingerprint that it prints with the one in the list.
      </p>
      <Checkbox isSelected={isCopied} onChange={setCopied}>
        I have copied the command
      </Checkbox>
    </Dialog>
  );
}
