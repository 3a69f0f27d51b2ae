import type { ThresholdPreview } from '../../../src/console-api/thresholds/threshold-schemas.ts';
import { unitOf } from '../../../src/vocabulary/units.ts';
import { valueText } from '../parts/chart/value-text.ts';
import { ConnectionLink } from '../parts/connection-link.tsx';
import { Named } from '../parts/named.tsx';
import { previewSentences } from './threshold-text.ts';

type Previewed = ThresholdPreview['findings'][number];

/** What other thresholds would have changed in the last runs. */
export function PreviewResult({ preview }: { preview: ThresholdPreview }) {
  const { findings, appear, vanish, graver, milder } = preview;
  const more = appear + vanish + graver + milder - findings.length;
  return (
    <section aria-label="Preview" className="threshold-preview" role="status">
      {previewSentences(preview).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {findings.length > 0 && (
        // Focusable, so that the keyboard scrolls a long list.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls
        <ul aria-label="Findings that change" tabIndex={0}>
          {findings.map((finding) => (
            <li
              key={JSON.stringify([
                finding.connection_id,
                finding.check_id,
                finding.database,
                finding.object,
                finding.metric,
              ])}
            >
              <Changed finding={finding} />
            </li>
          ))}
          {more > 0 && <li className="quiet">{more.toLocaleString('en')} more</li>}
        </ul>
      )}
    </section>
  );
}

function Changed({ finding }: { finding: Previewed }) {
  const { connection_id, connection_name, database, object, is_named, before, after, metric, value } =
    finding;
  const place = [database, object].filter(Boolean).join(' / ');
  return (
    <>
      <ConnectionLink id={connection_id} name={connection_name} />
      <Named name={place} words=" " />: {before ?? 'no finding'} → {after ?? 'no finding'} (
      {valueText(value, unitOf(metric))}){!is_named && ', of an object whose name was not kept'}
      {!finding.is_certain && ', if there was enough activity to judge'}
    </>
  );
}
