import { Icon } from '../../parts/icons.tsx';
import { permissionsOf, permissionText, type Role } from './roles.ts';

/** The table of roles and permissions; `own` are the viewer's roles. */
export function RoleMatrix({ roles, own }: { roles: readonly Role[]; own: readonly string[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section aria-label="Roles and permissions" className="team-matrix" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">
              <span className="hidden-text">Permission</span>
            </th>
            {roles.map(({ id, name }) => (
              <th key={id} scope="col">
                <span className="team-role">
                  {name}
                  {own.includes(id) && <span className="team-own">yours</span>}
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {permissionsOf(roles).map((permission) => (
            <tr key={permission}>
              <th scope="row">
                {permissionText(permission)}
                <code>{permission}</code>
              </th>
              {roles.map(({ id, permissions }) => {
                const isGiven = permissions.includes(permission);
                return (
                  <td key={id}>
                    <span className={isGiven ? 'team-yes' : 'team-no'}>
                      {isGiven ? <Icon name="check" /> : <span aria-hidden="true">–</span>}
                      <span className="hidden-text">{isGiven ? 'yes' : 'no'}</span>
                    </span>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
