import { Checkboxes } from '../../parts/field.tsx';
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
    <Checkboxes
      choices={roles.map((role) => ({
        id: role.id,
        isDisabled: !mayGive(permissions, role),
        label: (
          <>
            {role.name}
            <span className="field-description">
              {mayGive(permissions, role) ? role.description : 'Allows more than your own roles'}
            </span>
          </>
        ),
      }))}
      label="Roles"
      onChange={onChange}
      value={value}
    />
  );
}
