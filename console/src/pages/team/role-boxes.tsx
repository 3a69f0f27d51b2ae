import { Checkbox } from '../../parts/field.tsx';
import { useProfile } from '../../shell/profile.ts';
import { mayGive, type Role, type RoleId } from './roles.ts';

interface RoleBoxesProps {
  roles: readonly Role[];
  value: readonly RoleId[];
  onChange: (roles: RoleId[]) => void;
}

/** Checkboxes for a member's roles. Roles that allow more than the viewer's own are disabled. */
export function RoleBoxes({ roles, value, onChange }: RoleBoxesProps) {
  const { permissions } = useProfile();
  return (
    <fieldset className="team-roles">
      <legend>Roles</legend>
      {roles.map((role) => (
        <Checkbox
          isDisabled={!mayGive(permissions, role)}
          isSelected={value.includes(role.id)}
          key={role.id}
          onChange={(isSelected) =>
            onChange(
              roles.map(({ id }) => id).filter((id) => (id === role.id ? isSelected : value.includes(id))),
            )
          }
        >
          {role.name}
          <span className="field-description">
            {mayGive(permissions, role) ? role.description : 'Allows more than your own roles'}
          </span>
        </Checkbox>
      ))}
    </fieldset>
  );
}
