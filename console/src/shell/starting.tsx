import './starting.css';
import { Brand } from './brand.tsx';

/** While it is not known yet who is there. */
export function Starting() {
  return (
    <main className="starting">
      <h1>
        <Brand />
      </h1>
      <p className="quiet" role="status">
        Starting…
      </p>
    </main>
  );
}
