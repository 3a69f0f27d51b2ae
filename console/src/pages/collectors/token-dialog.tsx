import type { IssuedToken } from '../../../../src/console-api/collectors/collector-routes.ts';
import { serviceUrl } from '../../base-path.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { startCommand } from '../../parts/start-command.ts';
import { Time } from '../../parts/time.tsx';

/** Shows a token once, with the command that uses it. */
export function TokenDialog({ issued, onDone }: { issued: IssuedToken; onDone: () => void }) {
  const { name, token, expires_at } = issued;
  return (
    <ShownOnce kept="copied the command" onDone={onDone} title="Start the collector">
      <p>
        Run this beside the databases, as the user of <bdi>{name}</bdi>. This is the only time that the token
        is shown. It works once, until <Time as="full" at={expires_at} />.
      </p>
      <CodeBlock text={startCommand(serviceUrl(), name, token)} what="command" />
      <p className="quiet">
        It expects the connections with their logins in <code>collector.yaml</code>, which only its user may
        read. Compare the fingerprint that it prints with the one in the list.
      </p>
    </ShownOnce>
  );
}
