import { ENDPOINT_GROUPS, type EndpointGroup } from '../../../../src/vocabulary/plans.ts';
import { fieldError } from '../../api.ts';
import { Checkbox, RadioGroup, TextField } from '../../parts/field.tsx';
import { type AccessDraft, GROUP_NAMES } from './key-access.ts';

interface AccessFieldsProps {
  draft: AccessDraft;
  onChange: (draft: AccessDraft) => void;
  error: unknown;
}

/** The fields for what a key may do: its groups of endpoints, and the addresses that may use it. */
export function AccessFields({ draft, onChange, error }: AccessFieldsProps) {
  const { isLimited, scopes, addresses } = draft;
  const toggle = (group: EndpointGroup, isSelected: boolean) =>
    onChange({
      ...draft,
      scopes: ENDPOINT_GROUPS.filter((one) => (one === group ? isSelected : scopes.includes(one))),
    });
  return (
    <>
      <RadioGroup
        choices={[
          { id: 'all', label: 'All endpoints of the plan' },
          { id: 'chosen', label: 'Only chosen groups' },
        ]}
        error={fieldError(error, 'scopes')}
        label="Endpoints"
        onChange={(choice) => onChange({ ...draft, isLimited: choice === 'chosen' })}
        value={isLimited ? 'chosen' : 'all'}
      />
      {isLimited && (
        <fieldset className="keys-groups">
          <legend className="hidden-text">Groups of endpoints</legend>
          {ENDPOINT_GROUPS.map((group) => (
            <Checkbox
              isSelected={scopes.includes(group)}
              key={group}
              onChange={(isSelected) => toggle(group, isSelected)}
            >
              {GROUP_NAMES[group]}
            </Checkbox>
          ))}
          <p className="field-description">
            Health includes measures, changes, queries and blocking; Tickets includes alerts; Activity log
            includes seals. Other endpoints answer 404, as if they did not exist.
          </p>
        </fieldset>
      )}
      <TextField
        description="Optional: addresses and networks that may use the key, one per line, such as 203.0.113.7 or 2001:db8::/32. Empty: any address."
        error={fieldError(error, 'allowed_addresses')}
        label="Allowed addresses"
        mono
        onChange={(text) => onChange({ ...draft, addresses: text })}
        rows={3}
        value={addresses}
      />
    </>
  );
}
