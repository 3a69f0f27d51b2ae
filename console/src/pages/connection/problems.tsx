import { Link } from '@tanstack/react-router';
import type { ExplainedFinding } from '../../../../src/console-api/connections/findings.ts';
import { findingAnchor } from '../../parts/finding-anchor.ts';
import { Section } from '../../parts/page.tsx';
import { readableLine } from '../../parts/readable-text.ts';
import { Message } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';

/** More than these are a list of their own. */
const MOST = 3;

interface ProblemsProps {
  connectionId: string;
  findings: readonly ExplainedFinding[];
}

/** The worst findings of the latest check. */
export function Problems({ connectionId, findings }: ProblemsProps) {
  const problems = findings.filter(({ status }) => status !== 'ok' && status !== 'skipped');
  return (
    <Section title="What is wrong now">
      {problems.length === 0 ? (
        <Message icon="check" title="All clear">
          The latest check found no problems.
        </Message>
      ) : (
        <ProblemList connectionId={connectionId} findings={problems.slice(0, MOST)} />
      )}
      {problems.length > MOST && (
        <Link params={{ id: connectionId }} search={{ tab: 'findings' }} to="/connections/$id">
          All {problems.length} problems
        </Link>
      )}
    </Section>
  );
}

/** Findings, each with a link to what it says to do. */
export function ProblemList({ connectionId, findings }: ProblemsProps) {
  return (
    <ul className="problems">
      {findings.map((finding) => {
        const anchor = findingAnchor(finding);
        return (
          <li key={anchor}>
            <StatusMark quiet status={finding.status} />
            <div>
              <Link
                params={{ id: connectionId }}
                search={{ tab: 'findings', finding: anchor }}
                to="/connections/$id"
              >
                <bdi>{finding.title}</bdi>
              </Link>
              <bdi className="finding-measured two-lines">{readableLine(finding.metric_line)}</bdi>
            </div>
          </li>
        );
      })}
    </ul>
  );
}
