import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import type { MonitoringRoleSql as Statements } from '../../../../src/console-api/connections/monitoring-role-sql.ts';
import { type Engine, familyOf } from '../../../../src/vocabulary/engines.ts';
import { PROVIDER_NAMES, PROVIDERS, type Provider } from '../../../../src/vocabulary/hosted/providers.ts';
import { read } from '../../api.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Checkbox, Select, TextField } from '../../parts/field.tsx';
import { Loaded, SkeletonRows } from '../../parts/states.tsx';

const OWN = 'own';
const HOSTS = [
  { id: OWN, label: 'My own server' },
  ...PROVIDERS.map((id) => ({ id, label: PROVIDER_NAMES[id] })),
];

/** The SQL that creates the monitoring login, to paste, with a switch for each privilege. */
export function MonitoringRoleSql({ engine, username }: { engine: Engine; username: string }) {
  const [provider, setProvider] = useState<string>(OWN);
  const [host, setHost] = useState('%');
  const [granted, setGranted] = useState<readonly string[] | null>(null);
  const [ofEngine, setOfEngine] = useState(engine);
  if (ofEngine !== engine) {
    setOfEngine(engine);
    setGranted(null);
  }
  const wanted = useDeferredValue({
    engine,
    username,
    provider: provider === OWN ? null : (provider as Provider),
    host: familyOf(engine) === 'mysql' ? host : null,
    grants: granted && (granted.join(',') || 'none'),
  });
  const query = useQuery({
    ...read<Statements>('/connections/login-sql', wanted),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return (
    <div className="login-sql">
      <Select choices={HOSTS} label="Where the server runs" onChange={setProvider} value={provider} />
      {familyOf(engine) === 'mysql' && (
        <TextField
          description="The address of dbvitals as the server sees it. % is any."
          label="Allow logins from"
          maxLength={255}
          mono
          onChange={setHost}
          value={host}
        />
      )}
      <Loaded query={query} skeleton={<SkeletonRows rows={3} />}>
        {({ sql, notes, grants }) => (
          <>
            {grants.length > 0 && (
              <fieldset className="login-grants">
                <legend className="field-label">Privileges</legend>
                {grants.map(({ id, privilege, why, checks, is_default, is_granted }) => (
                  <Checkbox
                    isSelected={is_granted}
                    key={id}
                    onChange={(isOn) =>
                      setGranted(
                        grants
                          .filter((grant) => (grant.id === id ? isOn : grant.is_granted))
                          .map((grant) => grant.id),
                      )
                    }
                  >
                    {privilege}
                    {!is_default && <span className="quiet"> (optional)</span>}
                    <span className="field-description">
                      {why} For {checks.length === 1 ? checks[0] : `${checks.length} checks`}.
                    </span>
                  </Checkbox>
                ))}
              </fieldset>
            )}
            <CodeBlock text={sql} what="SQL" />
            <p className="quiet">
              Replace change-me with a password of your own. dbvitals reads no rows of your tables.
            </p>
            {notes.map((note) => (
              <p className="quiet" key={note}>
                {note}
              </p>
            ))}
          </>
        )}
      </Loaded>
    </div>
  );
}
