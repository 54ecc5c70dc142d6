/**
 * Scenario: a custom resource kind with CEL validation rules.
 */
import { at } from '../command-line/json.js';
import { expectThat, type Scenario } from './scenario.js';

const CRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: backups.example.com
spec:
  group: example.com
  scope: Namespaced
  names: { plural: backups, singular: backup, kind: Backup, shortNames: [bk] }
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns:
    - { name: Keep, type: integer, jsonPath: .spec.keep }
    - { name: Target, type: string, jsonPath: .spec.target }
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [target]
            properties:
              target: { type: string, maxLength: 100 }
              keep: { type: integer, minimum: 1, default: 7 }
              most: { type: integer, default: 30 }
            x-kubernetes-validations:
            - rule: self.keep <= self.most
              message: no more can be kept than most says
            - rule: self.target == oldSelf.target
              message: a backup does not move
`;

const backup = (name: string, spec: string): string => `apiVersion: example.com/v1
kind: Backup
metadata:
  name: ${name}
spec: ${spec}
`;

export const validationRules: Scenario = {
  id: 'crd-rules',
  title: 'A CRD with validation rules',
  summary: 'A CustomResourceDefinition whose CEL rules compare fields with each other and with their old values.',
  object: { apiVersion: 'example.com/v1', kind: 'Backup', namespace: 'default', name: 'nightly' },
  steps: [
    {
      title: 'A new custom resource kind',
      description:
        'A CRD adds the kind Backup to the running cluster: fields, defaults, table columns and two validation rules.',
      text: CRD,
      lines: ['apply -f - --server-side', 'explain backup.spec'],
      object: { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: 'backups.example.com' },
      async check({ run }) {
        return expectThat((await run('get backups')).code === 0, 'backups should be served');
      },
    },
    {
      title: 'A valid object',
      description: 'The server sets omitted fields to their defaults. `get` prints the columns of the CRD.',
      text: backup('nightly', '{ target: /data }'),
      lines: ['apply -f - --server-side', 'get bk'],
      async check(context) {
        const found = await context.find('backup/nightly');
        return expectThat(
          at(found, 'spec', 'keep') === 7 && at(found, 'spec', 'most') === 30,
          'keep and most should have defaults',
        );
      },
    },
    {
      title: 'An object that violates a rule',
      description:
        '`keep` is 40, but `most` is 30. The rule compares both fields, and the server rejects the object with the message of the rule.',
      text: backup('greedy', '{ target: /data, keep: 40 }'),
      lines: ['apply -f - --server-side'],
      async check({ results: [line] }) {
        return expectThat(
          line?.text.includes('no more can be kept than most says') === true,
          'the server should reject it with the message of the rule',
        );
      },
    },
    {
      title: 'A transition rule',
      description: 'The second rule compares a field with its old value (`oldSelf`). It is evaluated only for updates.',
      text: backup('nightly', '{ target: /elsewhere }'),
      lines: ['apply -f - --server-side'],
      async check(context) {
        const target = at(await context.find('backup/nightly'), 'spec', 'target');
        const isRefused = context.results[0]?.text.includes('a backup does not move') === true;
        return expectThat(isRefused && target === '/data', 'the change of target should be rejected');
      },
    },
  ],
};
