import { Link } from '@tanstack/react-router';
import { Button } from '../../parts/button.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { NoPermission } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { useCan } from '../../shell/profile.ts';
import { isAccepted } from './api-key-lifetime.ts';
import { type ApiKeyAction, type ApiKeyState, actionsOf } from './api-key-state.ts';
import { Gauge } from './gauge.tsx';
import { scopesText } from './key-access.ts';
import { ApiKeyExpiry, ApiKeyStatusCell, createdBy, LastUse, Requests } from './key-cells.tsx';
import { RefusedAttempts } from './refused-attempts.tsx';
import { RequestLog } from './request-log.tsx';
import { Usage } from './usage.tsx';

function Addresses({ of }: { of: readonly string[] | null }) {
  return of === null ? 'Any' : <span className="mono">{of.join(', ')}</span>;
}

export function BackToApiKeys() {
  return (
    <Link search={{}} to="/keys">
      ← API keys
    </Link>
  );
}

/** One key: its details and requests. */
export function ApiKeyPage({ of, limit, act }: { of: ApiKeyState; limit: number; act: ApiKeyAction | null }) {
  const { subject, status, window, lastUsedAt } = of;
  const can = useCan();
  return (
    <Page
      actions={
        act &&
        actionsOf(of, act).map(({ label, icon, onAction }) => (
          <Button key={label} onPress={onAction} {...(icon && { icon })}>
            {label}
          </Button>
        ))
      }
      back={<BackToApiKeys />}
      description={
        <>
          Key {subject.id}, <code>dbv_live_…{subject.last_four}</code>
        </>
      }
      title={subject.name}
    >
      {subject.note && (
        <p>
          <bdi>{subject.note}</bdi>
        </p>
      )}
      <Facts
        facts={[
          ['State', <ApiKeyStatusCell key="state" status={status} subject={subject} />],
          ['Expires', <ApiKeyExpiry key="end" status={status} subject={subject} />],
          ['Endpoints', scopesText(subject.scopes)],
          ['Allowed addresses', <Addresses key="addresses" of={subject.allowed_addresses} />],
          ['Last used', <LastUse at={lastUsedAt} key="use" subject={subject} />],
          ['Requests, last 24 h', <Requests key="requests" subject={subject} />],
          [
            'This minute',
            isAccepted(status) ? (
              <Gauge key="gauge" limit={limit} name={subject.name} window={window} />
            ) : (
              '–'
            ),
          ],
          [
            'Created',
            <>
              <Time as="full" at={subject.created_at} key="created" />
              <div className="small quiet">
                by <bdi>{createdBy(subject)}</bdi>
              </div>
            </>,
          ],
        ]}
      />
      <Section
        description="Requests that were recorded, by day (UTC), endpoint and status."
        title="Last 30 days"
      >
        <Usage id={subject.id} />
      </Section>
      <Section
        description="Requests after the key ended or from an address that is not allowed. At most one entry per minute and address."
        title="Refused attempts"
      >
        {can('activity:read') ? (
          <RefusedAttempts id={subject.id} />
        ) : (
          <NoPermission permission="activity:read" />
        )}
      </Section>
      <Section description="From the activity log, newest first." title="Requests">
        {can('activity:read') ? <RequestLog id={subject.id} /> : <NoPermission permission="activity:read" />}
      </Section>
    </Page>
  );
}
