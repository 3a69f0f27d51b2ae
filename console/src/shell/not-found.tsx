import { ButtonLink } from '../parts/link.tsx';
import { Entrance } from './entrance.tsx';

/** For an address that is no page. */
export function NotFound() {
  return (
    <Entrance title="There is no page at this address">
      <ButtonLink kind="primary" to="/fleet">
        To the fleet
      </ButtonLink>
    </Entrance>
  );
}
