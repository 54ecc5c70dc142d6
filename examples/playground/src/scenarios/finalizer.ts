/**
 * Scenario: a finalizer delays the deletion of an object.
 */
import { listAt, textAt } from '../command-line/json.js';
import { expectThat, type Scenario } from './scenario.js';

export const finalizer: Scenario = {
  id: 'finalizer',
  title: 'A deletion that waits',
  summary: 'A finalizer keeps a deleted object until a controller has cleaned up.',
  object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'bucket' },
  steps: [
    {
      title: 'An object with a finalizer',
      description:
        'A finalizer is a name in the metadata. It means that a controller has work to do before the object is removed.',
      text: `apiVersion: v1
kind: ConfigMap
metadata:
  name: bucket
  finalizers:
  - example.com/empty-the-bucket
data:
  size: large
`,
      lines: ['apply -f - --server-side --field-manager=me'],
      async check(context) {
        const finalizers = listAt(await context.find('configmap/bucket'), 'metadata', 'finalizers');
        return expectThat(finalizers.length === 1, 'the ConfigMap should have one finalizer');
      },
    },
    {
      title: 'The deleted object stays',
      description:
        'The server accepts the deletion, but only records its time (`deletionTimestamp`). The object can still be read.',
      lines: ['delete configmap bucket', 'get configmap bucket'],
      async check(context) {
        const time = textAt(await context.find('configmap/bucket'), 'metadata', 'deletionTimestamp');
        return expectThat(time !== '', 'the ConfigMap should exist with a deletionTimestamp');
      },
    },
    {
      title: 'A deletion cannot be undone',
      description: 'The server rejects new finalizers on an object that is being deleted.',
      lines: [
        `patch configmap bucket --type=json -p '[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/too-late"}]'`,
      ],
      async check({ results: [line] }) {
        const isRefused = line?.code === 1 && line.text.includes('no new finalizers can be added');
        return expectThat(isRefused, 'the patch should be rejected: no new finalizers can be added');
      },
    },
    {
      title: 'The last finalizer is removed',
      description:
        'The controller removes its finalizer after the cleanup. It is the last one, so the server removes the object.',
      lines: [`patch configmap bucket --type=merge -p '{"metadata":{"finalizers":null}}'`, 'get configmap bucket'],
      async check(context) {
        return expectThat((await context.find('configmap/bucket')) === undefined, 'the ConfigMap should not exist');
      },
    },
  ],
};
