import './keys.css';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { Keys, KeyWindows } from '../../../../src/console-api/keys/key-routes.ts';
import { read } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { ButtonLink } from '../../parts/button-link.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { accessText } from '../../parts/plan-access.tsx';
import { useRestoredFocus } from '../../parts/restore-focus.ts';
import { Loaded, Message } from '../../parts/states.tsx';
import { useNow } from '../../parts/time.tsx';
import { accountQuery } from '../../shell/account-query.ts';
import { useCan, useProfile } from '../../shell/profile.ts';
import { type ApiKeyAction, type ApiKeyDialog, type ApiKeyState, apiKeyStates } from './api-key-state.ts';
import { ChangeAccess } from './change-access.tsx';
import { CreateApiKey } from './create-key.tsx';
import { ExpiryWarning } from './expiry-warning.tsx';
import { ApiKeyList } from './key-list.tsx';
import { ApiKeyPage, BackToApiKeys } from './key-page.tsx';
import { RegenerateApiKey } from './regenerate-key.tsx';
import { RevokeApiKey } from './revoke-key.tsx';
import { type NewSecret, SecretDialog } from './secret-dialog.tsx';
import { Snippets } from './snippets.tsx';

/** All keys of the account; refreshed often while the service is still counting requests. */
const apiKeysQuery = queryOptions({
  ...read<Keys>('/keys'),
  refetchInterval: ({ state }) =>
    state.data?.data.some(({ requests_24h }) => requests_24h === null) ? 3_000 : 30_000,
});

/** The keys' requests in the current minute. */
const windowsQuery = queryOptions({
  ...read<KeyWindows>('/keys/windows'),
  refetchInterval: 5_000,
});

type OpenDialog = { what: ApiKeyDialog; of: ApiKeyState };

/** The account's API keys: create, regenerate and revoke them. */
export function KeysPage() {
  const mayWrite = useCan()('keys:write');
  const search = useSearch({ from: '/in/keys' });
  const navigate = useNavigate({ from: '/keys' });
  const queries = useQueryClient();
  const [asked, setAsked] = useState<OpenDialog | null>(null);
  const [secret, setSecret] = useState<NewSecret | null>(null);
  // While a new key is shown, no request may navigate away from it.
  const keys = useQuery({ ...apiKeysQuery, enabled: secret === null });
  const windows = useQuery({ ...windowsQuery, enabled: secret === null });
  const { requests_per_minute: planLimit } = useProfile().account;
  const now = useNow(10_000) + aheadBy(keys.data?.as_of, keys.dataUpdatedAt);
  const limit = windows.data?.limit ?? planLimit;
  const act: ApiKeyAction | null = mayWrite ? (what, of) => setAsked({ what, of }) : null;
  const closeForm = () =>
    navigate({ search: ({ create: _, name: __, note: ___, ...old }) => old, replace: true });
  const show = (made: NewSecret) => {
    setSecret(made);
    setAsked(null);
    void closeForm();
  };
  const stored = () => {
    setSecret(null);
    void queries.invalidateQueries({ queryKey: ['keys'] });
  };
  useTitleFocus(search.key);
  useRestoredFocus(asked !== null || secret !== null || search.create !== undefined);
  const all = keys.data && apiKeyStates(keys.data, windows.data, now);
  const one = search.key ? all?.find(({ subject }) => String(subject.id) === search.key) : undefined;
  return (
    <>
      {one ? (
        <ApiKeyPage act={act} key={one.subject.id} limit={limit} of={one} />
      ) : (
        <Page
          actions={
            mayWrite &&
            all?.length !== 0 && (
              <Button
                icon="plus"
                kind="primary"
                onPress={() => void navigate({ search: (old) => ({ ...old, create: '1' }) })}
              >
                Create key
              </Button>
            )
          }
          back={search.key && <BackToApiKeys />}
          description="Keys for the read-only API. Give each client its own key: each key has its own limit, and the activity log shows which one was used."
          title="API keys"
        >
          <Loaded query={keys}>
            {({ since }) => {
              if (search.key) return <Message icon="search" title={`There is no key ${search.key}`} />;
              if (!all || all.length === 0) return <NoApiKeys mayCreate={mayWrite} />;
              return (
                <>
                  <ExpiryWarning act={act} keys={all} />
                  <ApiKeyList act={act} keys={all} limit={limit} since={since} />
                  <Section
                    description="Replace <API_KEY> and $DBVITALS_API_KEY with a key."
                    title="Use a key"
                  >
                    <Snippets mayCreate={mayWrite} />
                  </Section>
                </>
              );
            }}
          </Loaded>
        </Page>
      )}
      {search.create && !secret && (
        <CreateApiKey given={search} mayWrite={mayWrite} onClose={() => void closeForm()} onMade={show} />
      )}
      {asked?.what === 'access' && <ChangeAccess onClose={() => setAsked(null)} subject={asked.of.subject} />}
      {asked?.what === 'regenerate' && (
        <RegenerateApiKey
          lastUsedAt={asked.of.lastUsedAt}
          onClose={() => setAsked(null)}
          onMade={show}
          subject={asked.of.subject}
        />
      )}
      {asked?.what === 'revoke' && (
        <RevokeApiKey
          lastUsedAt={asked.of.lastUsedAt}
          onClose={() => setAsked(null)}
          subject={asked.of.subject}
        />
      )}
      {secret && <SecretDialog onDone={stored} secret={secret} />}
    </>
  );
}

/** How far the store's clock is ahead of this device's, in milliseconds. */
function aheadBy(asOf: string | undefined, readAt: number): number {
  return asOf === undefined ? 0 : new Date(asOf).getTime() - readAt;
}

/** The list and a key are different pages to the reader, so the title gets the focus. */
function useTitleFocus(key: string | undefined): void {
  const last = useRef(key);
  useEffect(() => {
    if (last.current === key) return;
    last.current = key;
    document.querySelector<HTMLElement>('main h1')?.focus();
  }, [key]);
}

function NoApiKeys({ mayCreate }: { mayCreate: boolean }) {
  const { data: account } = useQuery({ ...accountQuery, enabled: mayCreate });
  return (
    <>
      <Message
        actions={
          mayCreate && (
            <ButtonLink icon="plus" kind="primary" search={{ create: '1' }} to="/keys">
              Create the first key
            </ButtonLink>
          )
        }
        icon="key"
        title="No API keys yet"
      >
        {mayCreate ? account && accessText(account.includes) : 'An owner or administrator can create one.'}
      </Message>
      <Section description="Replace <API_KEY> and $DBVITALS_API_KEY with your key." title="Use a key">
        <Snippets mayCreate={mayCreate} />
      </Section>
    </>
  );
}
