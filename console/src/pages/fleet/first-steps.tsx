import './first-steps.css';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { send } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icons.tsx';
import { offerUndo } from '../../parts/undo.ts';
import { isListed, type Onboarding, onboardingQuery } from '../../shell/onboarding-query.ts';

const STEPS: Record<Onboarding['steps'][number]['id'], { link: ReactNode; text: string }> = {
  watch: {
    link: <Link to="/connections/new">Watch a database</Link>,
    text: 'Create a login with the SQL that is shown there, and test the connection.',
  },
  notify: {
    link: <Link to="/notifications">Be notified</Link>,
    text: 'Add Slack, e-mail or another channel, and receive its test message.',
  },
  finding: {
    link: <Link to="/fleet">Read a finding</Link>,
    text: 'Open a connection in the list below. A finding says what is wrong, why it matters and how to fix it.',
  },
  key: {
    link: <Link to="/keys">Create an API key</Link>,
    text: 'Dashboards, monitors and collectors read with a key.',
  },
  invite: {
    link: <Link to="/team">Invite a colleague</Link>,
    text: 'Choose what they may see and change.',
  },
};

/** The first steps in an account. Each ticks itself; the list closes when all are done or the member closes it. */
export function FirstSteps() {
  const { data } = useQuery(onboardingQuery);
  const queries = useQueryClient();
  const dismiss = async (dismissed: boolean) => {
    await send('PATCH', '/onboarding', { dismissed });
    await queries.invalidateQueries(onboardingQuery);
  };
  const { mutate, isPending } = useMutation({
    mutationFn: () => dismiss(true),
    onSuccess: () =>
      offerUndo('First steps closed', async () => {
        await dismiss(false);
        return 'First steps are back';
      }),
  });
  if (!data || !isListed(data)) return null;
  const { steps } = data;
  return (
    <section aria-labelledby="first-steps" className="first-steps">
      <header>
        <h2 id="first-steps">First steps</h2>
        <span className="quiet">
          {steps.filter(({ done }) => done).length} of {steps.length} done
        </span>
        <Button
          aria-label="Close first steps"
          icon="close"
          isPending={isPending}
          kind="quiet"
          onPress={() => mutate()}
          small
        >
          Close
        </Button>
      </header>
      <ol>
        {steps.map(({ id, done }) => (
          <li className={done ? 'done' : undefined} key={id}>
            <span className="first-steps-mark">
              {done && <Icon name="check" size={14} />}
              <span className="hidden-text">{done ? 'Done: ' : 'To do: '}</span>
            </span>
            <span>
              {STEPS[id].link}
              <span className="quiet small">{STEPS[id].text}</span>
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
