import './test-result.css';
import { useEffect, useRef } from 'react';
import { CodeBlock } from './copy.tsx';
import { Facts } from './page.tsx';
import { StatusMark } from './status-mark.tsx';

interface TestResultProps {
  /** The service's test result for a connection. */
  test: {
    reachable: boolean;
    reason: string | null;
    tls: string | null;
    version: string | null;
    measured: number;
    skipped: readonly { check_id: string; title: string; reason: string }[];
    sql: string;
  };
}

/** Scrolls the result into view when it appears. */
function useInView() {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    place.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return place;
}

/** The result of a connection test: reachable or not, encryption, version, skipped checks and missing GRANTs. */
export function TestResult({ test }: TestResultProps) {
  const { reachable, reason, tls, version, measured, skipped, sql } = test;
  const place = useInView();
  if (!reachable) {
    return (
      <div className="test-result" ref={place}>
        <p>
          <StatusMark status="critical" word="Could not connect" />
        </p>
        <p>
          <bdi>{reason}</bdi>
        </p>
      </div>
    );
  }
  return (
    <div className="test-result" ref={place}>
      <p>
        <StatusMark status="ok" word="Connected" />
      </p>
      <Facts
        facts={[
          ['Server version', <bdi key="version">{version ?? 'unknown'}</bdi>],
          ['TLS', tls ?? <StatusMark key="tls" quiet status="warning" word="Not encrypted" />],
          ['Checks measured', measured],
          ['Checks skipped', skipped.length],
        ]}
      />
      {sql !== '' && (
        <div>
          <h3>Missing privileges</h3>
          <p className="quiet">Run this as an administrator, then test again.</p>
          <CodeBlock text={sql} what="GRANT statements" />
        </div>
      )}
      {skipped.length > 0 && (
        <details>
          <summary>
            {skipped.length === 1 ? '1 check will be skipped' : `${skipped.length} checks will be skipped`}
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
