import type { KeyWindows } from '../../../../src/console-api/keys/key-routes.ts';

interface GaugeProps {
  limit: number;
  /** The current minute; undefined while unknown. */
  window: KeyWindows['data'][number] | undefined;
  /** The key's name, for screen readers. */
  name: string;
}

/** A key's requests in the current minute, as a number and a bar. */
export function Gauge({ limit, window, name }: GaugeProps) {
  if (limit === 0) return <span className="quiet">no access</span>;
  const used = Math.min(window?.used ?? 0, limit);
  const share = used / limit;
  const tone = share >= 1 ? 'tone-critical' : share >= 0.8 ? 'tone-warning' : 'tone-accent';
  return (
    <div className={`keys-gauge ${tone}`}>
      <span aria-hidden="true">
        {used.toLocaleString('en')} <span className="quiet">of {limit.toLocaleString('en')}</span>
      </span>
      {/* biome-ignore lint/a11y/useSemanticElements: a <meter> can't be drawn alike in all browsers */}
      <svg
        aria-label={`Requests this minute, ${name}`}
        aria-valuemax={limit}
        aria-valuemin={0}
        aria-valuenow={used}
        aria-valuetext={`${used} of ${limit}`}
        height="4"
        preserveAspectRatio="none"
        role="meter"
        viewBox="0 0 100 4"
        width="100%"
      >
        <rect className="keys-gauge-track" height="4" rx="2" width="100" />
        {used > 0 && <rect className="keys-gauge-bar" height="4" rx="2" width={Math.max(share * 100, 3)} />}
      </svg>
      {share >= 1 && <span className="keys-gauge-word">limit reached</span>}
    </div>
  );
}
