/**
 * What tables of FlowSchemas and of priority levels show.
 */
import type { ApiObject } from '../../../meta/object.js';
import type { Column } from '../../columns.js';
import { ageColumn, NONE, nameColumn, textColumn } from '../../shared/common-columns.js';
import type { FlowSchema } from './flow-schema/flow-schema.js';
import { byPrecedence } from './precedence.js';
import type { PriorityLevelConfiguration } from './priority-level-configuration.js';

const schema = (object: ApiObject) => object as unknown as FlowSchema;
const limited = (object: ApiObject) => (object as unknown as PriorityLevelConfiguration).spec.limited;
const queuing = (object: ApiObject) => limited(object)?.limitResponse.queuing;

export const flowSchemaOrder = (left: ApiObject, right: ApiObject) => byPrecedence(schema(left), schema(right));

export const flowSchemaColumns: readonly Column[] = [
  nameColumn,
  textColumn(
    'PriorityLevel',
    'The level that its requests are put on.',
    (object) => schema(object).spec.priorityLevelConfiguration.name,
  ),
  textColumn(
    'MatchingPrecedence',
    'Its rank when several match; the least wins.',
    (object) => schema(object).spec.matchingPrecedence,
  ),
  textColumn(
    'DistinguisherMethod',
    'How its requests are told apart into flows.',
    (object) => schema(object).spec.distinguisherMethod?.type ?? NONE,
  ),
  ageColumn,
  textColumn('MissingPL', 'Whether the level that it names is missing.', (object) => {
    const { conditions = [] } = schema(object).status;
    return conditions.find(({ type }) => type === 'Dangling')?.status ?? '?';
  }),
];

export const priorityLevelColumns: readonly Column[] = [
  nameColumn,
  textColumn(
    'Type',
    'Whether its requests are limited.',
    (object) => (object as unknown as PriorityLevelConfiguration).spec.type,
  ),
  textColumn(
    'NominalConcurrencyShares',
    'Its weight when places are shared out.',
    (object) => limited(object)?.nominalConcurrencyShares ?? NONE,
  ),
  textColumn('Queues', 'How many queues its requests wait in.', (object) => queuing(object)?.queues ?? NONE),
  textColumn('HandSize', 'Among how many queues a flow may choose.', (object) => queuing(object)?.handSize ?? NONE),
  textColumn(
    'QueueLengthLimit',
    'How many requests may wait in one queue.',
    (object) => queuing(object)?.queueLengthLimit ?? NONE,
  ),
  ageColumn,
];
