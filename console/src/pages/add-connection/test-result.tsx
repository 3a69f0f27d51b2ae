import type { ConnectionTest } from '../../../../src/console/test-connection.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Facts } from '../../parts/page.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';

/** What a test found out: reached or not, encryption, version, and what will be skipped with the GRANT that lacks. */
export function TestResult({ test }: { test: ConnectionTest }) {
  const { reachable, reason, tls, version, measured, skipped, sql } = test;
  if (!reachable) {
    return (
      <div className="test-result">
        <p>
          <StatusMark status="critical" word="Not reached" />
        </p>
        <p>
          <bdi>{reason}</bdi>
        </p>
      </div>
    );
  }
  return (
    <div className="test-result">
      <p>
        <StatusMark status="ok" word="Reached" />
      </p>
      <Facts
        facts={[
          ['Server', <bdi key="version">{version ?? 'unknown'}</bdi>],
          ['TLS', tls ?? <StatusMark key="tls" quiet status="warning" word="Not encrypted" />],
          ['Checks measured', measured],
          ['Checks skipped', skipped.length],
        ]}
      />
      {sql !== '' && (
        <div>
          <h3>What the login lacks</h3>
          <p className="quiet">Run this as an administrator, then test again.</p>
          <CodeBlock text={sql} what="GRANTs" />
        </div>
      )}
      {skipped.length > 0 && (
        <details>
          <summary>
            {skipped.length === 1
              ? 'The check that will be skipped'
              : `The ${skipped.length} checks that will be skipped`}
          </summary>
          <ul className="skipped-checks">
            {skipped.map(({ check_id, title, reason: why }) => (
              <li key={check_id}>
                <span>
                  <bdi>{title}</bdi> <span className="mono small quiet">{check_id}</span>
                </span>
                <bdi className="quiet small">{why}</bdi>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
