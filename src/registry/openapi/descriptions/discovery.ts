/** What the types of this package are for; see `meta.ts` for the notation. */
export const discoveryDescriptions = `
EndpointSlice A part of the addresses behind a service.
 addressType IPv4, IPv6 or FQDN.
 endpoints The addresses.
 ports The ports that all of them have.
Endpoint One thing behind a service.
 addresses Its addresses.
 conditions Its state.
 hostname The host name.
 targetRef The object behind it, usually a pod.
 deprecatedTopology Kept for an older version.
 nodeName The node on which it is.
 zone The zone in which it is.
 hints Who should use it.
EndpointConditions The state of an endpoint.
 ready It takes traffic.
 serving It could take traffic, even if it is ending.
 terminating It is ending.
EndpointHints Who should use an endpoint.
 forZones Clients in these zones.
 forNodes Clients on these nodes.
EndpointPort A port.
 name The name, unique in the slice.
 protocol TCP, UDP or SCTP.
 port The number.
 appProtocol What is spoken on the port.
ForZone,ForNode A zone or a node.
 name Its name.
`;
