import { useEffect, useState } from 'react';
import type { ConnectionSettings } from '../../../../src/console-api/connections/connection-schemas.ts';
import type { ExplainedFinding } from '../../../../src/console-api/connections/findings.ts';
import type { Silence } from '../../../../src/console-api/connections/silences.ts';
import { FINDING_STATUSES } from '../../../../src/vocabulary/severities.ts';
import { FilterChips } from '../../parts/filter-chips.tsx';
import { findingAnchor, findingId } from '../../parts/finding-anchor.ts';
import { Section } from '../../parts/page.tsx';
import { readableLine } from '../../parts/readable-text.ts';
import { useRenewConnections } from '../../parts/renew-connections.ts';
import { SilenceDialog } from '../../parts/silence-dialog.tsx';
import { Message } from '../../parts/states.tsx';
import { StatusMark, statusText } from '../../parts/status-mark.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useCan } from '../../shell/profile.ts';
import { ConnectionCheckDialog } from '../../thresholds/check-dialog.tsx';
import { FindingDetail, FindingTitle } from './finding-row.tsx';
import { useConnectionSearch } from './use-connection-search.ts';

type Status = ExplainedFinding['status'];

function isToDo(status: Status): boolean {
  return status !== 'ok' && status !== 'skipped';
}

/** The silence that covers a finding. */
function silenceOf(
  silences: readonly Silence[],
  { check_id, object }: ExplainedFinding,
): Silence | undefined {
  return silences.find(
    (silence) => silence.check_id === check_id && (silence.object === null || silence.object === object),
  );
}

interface FindingsProps {
  settings: ConnectionSettings;
  findings: readonly ExplainedFinding[];
  silences: readonly Silence[];
}

/** The findings of the latest check, worst first; the worst one is open. */
export function Findings({ settings, findings, silences }: FindingsProps) {
  const [search, show] = useConnectionSearch();
  const mayWrite = useCan()('connections:write');
  const [dialog, setDialog] = useState<{ of: 'silence' | 'thresholds'; finding: string } | null>(null);
  const close = () => setDialog(null);
  const renew = useRenewConnections();
  const connectionId = String(settings.id);
  const isShown = ({ status }: ExplainedFinding) =>
    search.status ? status === search.status : isToDo(status);
  // A link to a finding shows it, whatever its current status.
  const shown = findings.filter((finding) => isShown(finding) || findingAnchor(finding) === search.finding);
  const open = search.finding ?? worstKey(shown);
  useScrollTo(search.finding);
  // The current finding: an open dialog shows refreshed data.
  const asked = findings.find((finding) => findingAnchor(finding) === dialog?.finding);
  const count = (wanted: Status) => findings.filter(({ status }) => status === wanted).length;
  const columns: Column<ExplainedFinding>[] = [
    {
      header: 'Status',
      width: '6.5rem',
      cell: ({ status }) => <StatusMark quiet status={status} />,
    },
    {
      header: 'Finding',
      width: 'minmax(10rem, 2fr)',
      narrow: 'lead',
      cell: (finding) => {
        const key = findingAnchor(finding);
        return (
          <FindingTitle
            finding={finding}
            id={findingId(key)}
            isOpen={key === open}
            onToggle={() => show({ finding: key === open ? 'none' : key })}
            silence={silenceOf(silences, finding)}
          />
        );
      },
    },
    {
      header: 'Measured',
      width: 'minmax(10rem, 3fr)',
      cell: (finding) => (
        <bdi className="finding-measured two-lines">{readableLine(finding.metric_line)}</bdi>
      ),
    },
  ];
  return (
    <Section description="What the latest check found, worst first." title="Findings">
      <FilterChips
        chips={FINDING_STATUSES.flatMap((status) => {
          const found = count(status);
          return found === 0 ? [] : [{ id: status, label: statusText(status), status, count: found }];
        })}
        label="Status of findings"
        onChange={(status) => show({ status: status ?? undefined, finding: undefined })}
        value={search.status ?? null}
      />
      {shown.length > 0 ? (
        <Table
          columns={columns}
          detail={(finding) =>
            findingAnchor(finding) === open && (
              <FindingDetail
                connectionId={connectionId}
                finding={finding}
                onSilence={
                  mayWrite && finding.status !== 'ok' && !silenceOf(silences, finding)
                    ? () => setDialog({ of: 'silence', finding: findingAnchor(finding) })
                    : null
                }
                onThresholds={
                  mayWrite && finding.thresholds.length > 0
                    ? () => setDialog({ of: 'thresholds', finding: findingAnchor(finding) })
                    : null
                }
              />
            )
          }
          hasKeyboardNavigation
          label="Findings"
          rowHeight={58}
          rowKey={findingAnchor}
          rows={shown}
        />
      ) : (
        <Message icon="check" title={search.status ? 'No findings with this status' : 'All clear'}>
          {search.status ? 'The latest check has none.' : 'The latest check found no problems.'}
        </Message>
      )}
      {asked && dialog?.of === 'silence' && (
        <SilenceDialog connectionId={settings.id} finding={asked} onClose={close} onSilenced={renew} />
      )}
      {asked && dialog?.of === 'thresholds' && (
        <ConnectionCheckDialog checkId={asked.check_id} connectionId={settings.id} onClose={close} />
      )}
    </Section>
  );
}

function worstKey(shown: readonly ExplainedFinding[]): string | null {
  const [worst] = shown;
  return worst && (worst.status === 'critical' || worst.status === 'warning') ? findingAnchor(worst) : null;
}

/** Scrolls to the finding that the page was opened with, and focuses it. */
function useScrollTo(finding: string | undefined): void {
  const [asked] = useState(finding);
  useEffect(() => {
    if (asked === undefined) return;
    // After the router has restored the scroll position.
    const frame = requestAnimationFrame(() => {
      const button = document.getElementById(findingId(asked));
      button?.focus({ preventScroll: true });
      button?.scrollIntoView({ block: 'center' });
    });
    return () => cancelAnimationFrame(frame);
  }, [asked]);
}
