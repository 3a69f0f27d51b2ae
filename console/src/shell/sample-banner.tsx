import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../api.ts';
import { notify } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { onboardingQuery } from './onboarding-query.ts';
import { useCan } from './profile.ts';

/** Says on every page that connections of the account are sample data, and removes them. */
export function SampleBanner() {
  const { data: { samples } = { samples: 0 } } = useQuery(onboardingQuery);
  const [isAsked, setAsked] = useState(false);
  const queries = useQueryClient();
  const can = useCan();
  const remove = useMutation({
    async mutationFn() {
      for (let left = samples; left > 0; ) {
        ({ left } = await send<{ left: number }>('POST', '/sample-data/remove'));
      }
    },
    onSuccess() {
      setAsked(false);
      notify('Sample data removed');
    },
    onSettled: () => queries.invalidateQueries(),
  });
  if (samples === 0) return null;
  const what = samples === 1 ? '1 connection is' : `${samples.toLocaleString('en')} connections are`;
  return (
    <section aria-label="Sample data" className="sample-banner">
      <span>
        This account shows sample data: {what} not real and never checked.
        {!can('connections:write') && ' An operator of the account can remove them.'}
      </span>
      {can('connections:write') && (
        <Button
          icon="bin"
          onPress={() => {
            remove.reset();
            setAsked(true);
          }}
          small
        >
          Remove sample data
        </Button>
      )}
      {isAsked && (
        <Confirm
          action="Remove sample data"
          onClose={() => setAsked(false)}
          title="Remove the sample data?"
          work={remove}
        >
          <p>
            The sample connections are removed and their tickets resolved. Connections that you added stay.
            The entries of the activity log stay too, because the log is never changed. This can’t be undone.
          </p>
        </Confirm>
      )}
    </section>
  );
}
