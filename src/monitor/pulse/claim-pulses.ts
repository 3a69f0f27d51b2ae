import type pg from 'pg';
import { isCollected } from '../../connections/collected-connection.ts';
import { mayStartWork } from '../../store/cells/moving.sql.ts';
import type { ConnectionKey } from '../monitor-deps.ts';
import type { PulseEvidence } from './pulse-conditions.ts';

/** A connection whose pulse this monitor has. */
export interface ClaimedPulse extends ConnectionKey {
  /** Seconds from pulse to pulse. */
  every: number;
  /** It differs after any change of the connection, and of the account's alert rules. */
  version: string;
}

// A lease outlasts two rounds of its monitor (ROUND_MS of start-pulses.ts), so another one takes over within 30 s of its death.
const renew = `
  with gone as (
    delete from pulse_monitor where until <= now() and monitor <> $1
  )
  insert into pulse_monitor (monitor, until) values ($1, now() + interval '20 s')
  on conflict (monitor) do update set until = excluded.until`;

// A claim of a monitor without a lease that holds is free: it died, or lives in another store, whose backup or account this one got.
// Claims of earlier versions have no lease, and end within 20 s. What changed since the snapshot is not taken. The rows are locked
// in order, so that two monitors never wait for each other.
const claim = `
  with free as materialized (
    select s.account_id, s.connection_id, s.pulse_by, s.pulse_until
      from connection_schedule s
      join connection c using (account_id, connection_id)
     where c.pulse_seconds > 0
       and c.removed_at is null
       and not ${isCollected}
       and ${mayStartWork('s.account_id')}
       and (s.pulse_by is null
            or s.pulse_until <= now()
            or (s.pulse_by = $1 and s.pulse_until < now() + interval '30 min')
            or (s.pulse_by <> $1
                and s.pulse_until > now() + interval '25 s'
                and not exists (select from pulse_monitor m where m.monitor = s.pulse_by and m.until > now())))
  ), mine as (
    select account_id, connection_id
      from free f
      join connection_schedule s using (account_id, connection_id)
     where s.pulse_by is not distinct from f.pulse_by
       and s.pulse_until is not distinct from f.pulse_until
     order by account_id, connection_id
       for update of s
  )
  update connection_schedule s
     set pulse_by = $1, pulse_until = now() + interval '1 h'
    from mine
   where s.account_id = mine.account_id and s.connection_id = mine.connection_id`;

const list = `
  select s.account_id as "accountId", s.connection_id as "connectionId", c.pulse_seconds as every,
         concat(c.xmin, '/', (select sum(r.xmin::text::bigint) from alert_rule r where r.account_id = s.account_id)) as version
    from connection_schedule s
    join connection c using (account_id, connection_id)
   where s.pulse_by = $1
     and c.pulse_seconds > 0
     and c.removed_at is null
     and ${mayStartWork('s.account_id')}`;

/** Renews the lease of `claimant` (a UUID), claims the pulses that no other monitor has, and returns all of its own. */
export async function claimPulses(writer: pg.Pool, claimant: string): Promise<ClaimedPulse[]> {
  await writer.query(renew, [claimant]);
  await writer.query(claim, [claimant]);
  return (await writer.query<ClaimedPulse>(list, [claimant])).rows;
}

const count = `
  select count(*)::int as wanted, count(m.monitor)::int as pulsed
    from connection_schedule s
    join connection c using (account_id, connection_id)
    left join pulse_monitor m on m.monitor = s.pulse_by and m.until > now()
   where c.pulse_seconds > 0
     and c.removed_at is null
     and not ${isCollected}`;

/** How many connections should have a pulse, and how many a living monitor pulses. */
export async function countPulses(writer: pg.Pool): Promise<{ wanted: number; pulsed: number }> {
  const { rows } = await writer.query<{ wanted: number; pulsed: number }>(count);
  return rows[0] ?? { wanted: 0, pulsed: 0 };
}

const release = `
  with lease as (
    delete from pulse_monitor where monitor = $1
  )
  update connection_schedule set pulse_by = null, pulse_until = null where pulse_by = $1`;

/** Releases the pulses of a monitor that stops. */
export async function releasePulses(writer: pg.Pool, claimant: string): Promise<void> {
  await writer.query(release, [claimant]);
}

const ask = `
  update connection_schedule
     set due_at = least(due_at, now()),
         pulse_evidence = $4::jsonb || jsonb_build_object('at', extract(epoch from now()))
   where account_id = $2 and connection_id = $3 and pulse_by = $1`;

/** Makes the health check of a connection due now, with what its pulses saw; nothing if another monitor has its pulse by now. */
export async function askForRun(
  writer: pg.Pool,
  claimant: string,
  { accountId, connectionId }: ConnectionKey,
  evidence: PulseEvidence,
): Promise<void> {
  await writer.query(ask, [claimant, accountId, connectionId, JSON.stringify(evidence)]);
}
