import './test-result.css';
import { useEffect, useRef } from 'react';
import { Button } from './button.tsx';
import { CodeBlock } from './copy.tsx';
import { counted } from './figure.ts';
import { Facts } from './page.tsx';
import { StatusMark } from './status-mark.tsx';

interface TestResultProps {
  /** The service's test result for a connection. */
  test: {
    reachable: boolean;
    reason: string | null;
    remedy: { advice: string; paste: string | null; tls: 'require' | null } | null;
    tls: string | null;
    version: string | null;
    measured: number;
    skipped: readonly { check_id: string; title: string; reason: string }[];
    sql: string;
  };
  /** Chooses the TLS mode that the server requires. */
  onTls: (tls: 'require') => void;
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
export function TestResult({ test, onTls }: TestResultProps) {
  const { reachable, reason, remedy, tls, version, measured, skipped, sql } = test;
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
        {remedy && (
          <div>
            <p>
              <strong>What to do</strong>
            </p>
            <p>{remedy.advice}</p>
            {remedy.paste !== null && <CodeBlock text={remedy.paste} what="remedy" />}
            {remedy.tls && (
              <Button icon="lock" onPress={() => remedy.tls && onTls(remedy.tls)}>
                Set TLS to Encrypted (require)
              </Button>
            )}
          </div>
        )}
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
          ['Checks measured', `${measured} of ${measured + skipped.length}`],
        ]}
      />
      {sql !== '' && (
        <div>
          <p>
            <strong>Missing privileges</strong>
          </p>
          <p className="quiet">Run this as an administrator, then test again.</p>
          <CodeBlock text={sql} what="GRANT statements" />
        </div>
      )}
      {skipped.length > 0 && (
        <details>
          <summary>{counted(skipped.length, 'check')} not measured</summary>
          <ul className="skipped-checks">
            {[...Map.groupBy(skipped, ({ reason: why }) => why)].map(([why, checks]) => (
              <li key={why}>
                <bdi className="quiet small">{why}</bdi>
                {checks.map(({ check_id, title }) => (
                  <span key={check_id}>
                    <bdi>{title}</bdi> <span className="mono small quiet">{check_id}</span>
                  </span>
                ))}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
