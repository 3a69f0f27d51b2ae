import { Link } from '@tanstack/react-router';
import type { ExplainedFinding } from '../../../../src/console-api/connections/findings.ts';
import type { Silence } from '../../../../src/console-api/connections/silences.ts';
import { FindingChart } from '../../measures/finding-chart.tsx';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { FindingExplanation } from '../../parts/finding-explanation.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Time } from '../../parts/time.tsx';
import { useFindingRead } from '../../shell/onboarding-query.ts';
import { connectionSearch } from './connection-search.ts';

/** The finding's title as a button that opens and closes its details. */
export function FindingTitle({
  finding: { title, object, database, check_id },
  id,
  isOpen,
  silence,
  onToggle,
}: {
  finding: ExplainedFinding;
  id: string;
  isOpen: boolean;
  silence: Silence | undefined;
  onToggle: () => void;
}) {
  return (
    <div className="finding-title">
      <button aria-expanded={isOpen} className="row-link" id={id} onClick={onToggle} type="button">
        <Icon name={isOpen ? 'down' : 'right'} />
        <bdi>{title}</bdi>
      </button>
      <span className="finding-place">
        {object !== null && <bdi className="mono">{object}</bdi>}
        {object !== null && database && ' in '}
        {database && <bdi className="mono">{database}</bdi>}
        {object === null && !database && <span className="mono">{check_id}</span>}
      </span>
      {silence && (
        <span className="silenced">
          <Icon name="silent" size={14} /> Silenced
          {silence.until ? (
            <>
              {' '}
              until <Time as="local" at={silence.until} />
            </>
          ) : (
            ', no end date'
          )}
        </span>
      )}
    </div>
  );
}

interface FindingDetailProps {
  finding: ExplainedFinding;
  connectionId: string;
  /** Null when the member may not, the finding is silenced already, or there is nothing to silence. */
  onSilence: (() => void) | null;
  /** Null when the member may not, or the check has no thresholds. */
  onThresholds: (() => void) | null;
}

/** The details of a finding and its actions. */
export function FindingDetail({ finding, connectionId, onSilence, onThresholds }: FindingDetailProps) {
  const {
    check_id,
    category,
    object,
    metric_line,
    measured,
    thresholds,
    why,
    sql,
    lock,
    missing_grant,
    ticket_id,
  } = finding;
  useFindingRead();
  return (
    <div className="finding-detail">
      <FindingExplanation
        lock={lock}
        measured={measured}
        metric_line={metric_line}
        // The GRANT is shown below under its own heading.
        sql={missing_grant === sql ? '' : sql}
        thresholds={thresholds}
        why={why}
      />
      <FindingChart connectionId={connectionId} finding={finding} />
      {missing_grant && (
        <div>
          <h3>Missing privilege</h3>
          <CodeBlock text={missing_grant} what="GRANT" />
        </div>
      )}
      <div className="finding-actions">
        <span className="quiet small">
          <span className="mono">{check_id}</span> · {category}
        </span>
        {ticket_id !== null && (
          <Link
            search={{ connection_id: connectionId, status: 'open', ticket: String(ticket_id) }}
            to="/tickets"
          >
            Ticket {ticket_id}
          </Link>
        )}
        {/_QUER(?:Y|IES)/.test(check_id) && (
          <Link
            params={{ id: connectionId }}
            // An object such as `1234 in shop by app`.
            search={connectionSearch({ tab: 'queries', query: object?.split(' ')[0] })}
            to="/connections/$id"
          >
            Show query
          </Link>
        )}
        {onThresholds && (
          <Button icon="pen" onPress={onThresholds} small>
            Edit thresholds
          </Button>
        )}
        {onSilence && (
          <Button icon="silent" onPress={onSilence} small>
            Silence
          </Button>
        )}
      </div>
    </div>
  );
}
