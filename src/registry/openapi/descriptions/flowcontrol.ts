/** What the types of this package are for; see `meta.ts` for the notation. */
export const flowcontrolDescriptions = `
FlowSchema Sorts requests into flows.
FlowSchemaSpec Which requests, and where they go.
 priorityLevelConfiguration The level that they go to.
 matchingPrecedence From 1 to 10000; of all that match, the smallest is taken.
 distinguisherMethod What tells flows apart; absent: it is all one flow.
 rules Which requests; one rule is enough, none match nothing.
FlowSchemaStatus What is known of the schema.
FlowSchemaCondition A statement about the schema.
FlowDistinguisherMethod What tells flows apart.
 type ByUser or ByNamespace.
PriorityLevelConfigurationReference A level by its name.
PolicyRulesWithSubjects Requests by who makes them and what they are.
 subjects Who; one of them is enough.
 resourceRules Requests for resources.
 nonResourceRules Requests for other paths.
Subject A user, a group or an account.
 kind User, Group or ServiceAccount: which field is set.
 user A user.
 group A group.
 serviceAccount An account.
UserSubject,GroupSubject A user or a group.
 name The name; * is everybody.
ServiceAccountSubject An account.
 namespace Its namespace.
 name Its name; * is all of the namespace.
ResourcePolicyRule Requests for resources.
 verbs The verbs; * alone is all.
 apiGroups The groups; * alone is all.
 resources The resources, in lower case; * alone is all.
 clusterScope Requests without a namespace are meant.
 namespaces The namespaces; * is any, but not none.
NonResourcePolicyRule Requests for other paths.
 verbs The verbs; * alone is all.
 nonResourceURLs The paths; * alone, or as the whole last part, is all.
PriorityLevelConfiguration A level of requests and how many of them are served at a time.
PriorityLevelConfigurationSpec How the level works.
 type Exempt or Limited.
 limited The bounds of a limited level.
 exempt The settings of an exempt level.
PriorityLevelConfigurationStatus What is known of the level.
PriorityLevelConfigurationCondition A statement about the level.
LimitedPriorityLevelConfiguration,ExemptPriorityLevelConfiguration Bounds of a level.
 nominalConcurrencyShares Its share of all that is served at a time.
 lendablePercent How much of it others may borrow.
 borrowingLimitPercent How much it may borrow.
 limitResponse What happens to requests that are too many.
LimitResponse What happens to requests that are too many.
 type Queue or Reject.
 queuing How they wait.
QueuingConfiguration How requests wait.
 queues The number of queues.
 handSize How many queues a flow may use.
 queueLengthLimit How many requests a queue holds.
*
 name The name.
`;
