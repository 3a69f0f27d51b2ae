import { Link } from '@tanstack/react-router';
import { serviceUrl } from '../../base-path.ts';
import { CodeBlock } from '../../parts/copy.tsx';

/** Ways to use a key, each with a link to the filled-in form. */
const USES = [
  {
    title: 'curl',
    name: 'curl, by hand',
    words: 'The key is read from a file, so it does not appear in the process list.',
    snippet: (origin: string) =>
      `umask 077; echo 'Authorization: Bearer <API_KEY>' > ~/.dbvitals-header\ncurl -s -H @$HOME/.dbvitals-header ${origin}/api/v1/health/fleet`,
  },
  {
    title: 'Grafana',
    name: 'Grafana',
    words: 'A data source for the Infinity plug-in. Grafana reads this file when it starts.',
    snippet: (origin: string) => `# /etc/grafana/provisioning/datasources/dbvitals.yaml
apiVersion: 1
datasources:
  - name: dbvitals
    type: yesoreyeram-infinity-datasource
    jsonData:
      auth_method: bearerToken
      allowedHosts: [${origin}]
    secureJsonData:
      bearerToken: $DBVITALS_API_KEY`,
  },
  {
    title: 'Collector',
    name: 'Vector, fleet',
    words: 'A Vector source that reads the fleet once a minute.',
    snippet: (origin: string) => `sources:
  dbvitals_fleet:
    type: http_client
    endpoint: ${origin}/api/v1/health/fleet
    scrape_interval_secs: 60
    auth:
      strategy: bearer
      token: \${DBVITALS_API_KEY}
    decoding:
      codec: json`,
  },
];

/** Configuration snippets for API clients, each with its own key. */
export function Snippets({ mayCreate }: { mayCreate: boolean }) {
  return (
    <div className="keys-snippets">
      {USES.map(({ title, name, words, snippet }) => (
        <section aria-label={title} key={title}>
          <div className="keys-snippet-words">
            <h3>{title}</h3>
            <p className="quiet">{words}</p>
            {mayCreate && (
              <Link search={{ create: '1', name }} to="/keys">
                Create a key for this
              </Link>
            )}
          </div>
          <CodeBlock text={snippet(serviceUrl())} what={`snippet for ${title}`} />
        </section>
      ))}
    </div>
  );
}
