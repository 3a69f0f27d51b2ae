import { ENDPOINT_GROUPS } from '../../../../src/vocabulary/plans.ts';
import { Checkboxes, RadioGroup, TextField } from '../../parts/field.tsx';
import { GROUP_NAMES } from '../../parts/plan-access.tsx';
import type { AccessDraft } from './key-access.ts';

interface AccessFieldsProps {
  draft: AccessDraft;
  onChange: (draft: AccessDraft) => void;
}

const GROUPS = ENDPOINT_GROUPS.map((id) => ({ id, label: GROUP_NAMES[id] }));

/** The fields for what a key may do: its groups of endpoints, and the addresses that may use it. */
export function AccessFields({ draft, onChange }: AccessFieldsProps) {
  const { isLimited, scopes, addresses } = draft;
  return (
    <>
      <RadioGroup
        choices={[
          { id: 'all', label: 'All endpoints of the plan' },
          { id: 'chosen', label: 'Only chosen groups' },
        ]}
        parameter="scopes"
        label="Endpoints"
        onChange={(choice) => onChange({ ...draft, isLimited: choice === 'chosen' })}
        value={isLimited ? 'chosen' : 'all'}
      />
      {isLimited && (
        <Checkboxes
          choices={GROUPS}
          className="keys-groups"
          hideLabel
          label="Groups of endpoints"
          onChange={(chosen) => onChange({ ...draft, scopes: chosen })}
          value={scopes}
        >
          <p className="field-description">
            Health includes measures, changes, queries and blocking; Tickets includes alerts; Activity log
            includes seals. Other endpoints answer 404, as if they did not exist.
          </p>
        </Checkboxes>
      )}
      <TextField
        description="Optional: addresses and networks that may use the key, one per line, such as 203.0.113.7 or 2001:db8::/32. Empty: any address."
        parameter="allowed_addresses"
        label="Allowed addresses"
        mono
        onChange={(text) => onChange({ ...draft, addresses: text })}
        rows={3}
        value={addresses}
      />
    </>
  );
}
