import type { ShownOwnCheck } from '../../../../src/console-api/own-checks/own-check-schemas.ts';
import { ENGINE_NAMES } from '../../../../src/vocabulary/engines.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Facts } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { levelsText } from './levels-text.ts';
import { everyText } from './reading-times.ts';

/** An own check, for a member who may not change it. */
export function OwnCheckDetails({ own, onClose }: { own: ShownOwnCheck; onClose: () => void }) {
  const { id, title, engine, database, sql, remediation, every, timeout, tags, changed_at, changed_by } = own;
  return (
    <Dialog onClose={onClose} title={title} wide>
      <Facts
        facts={[
          ['ID', `OWN_${id}`],
          ['Reports', levelsText(own)],
          ['Engine', ENGINE_NAMES[engine]],
          ['Database', database ?? 'that of the connection'],
          ['Tags', tags.length === 0 ? 'any' : tags.join(', ')],
          ['Runs', everyText(every)],
          ['Time limit', `${timeout} s`],
          [
            'Changed',
            <span key="changed">
              <bdi>{changed_by}</bdi>, <Time at={changed_at} />
            </span>,
          ],
        ]}
      />
      <CodeBlock text={sql} what="SQL" />
      {remediation && <p className="own-check-remediation">{remediation}</p>}
    </Dialog>
  );
}
