"""A service of several processes on PostgreSQL: fronts, which speak to the world, and an owner of each stream's model.

One process alone decides and learns, since the model is a function of an ordered log, and a budget is exact only where
one counts. Everything else can be done by many: HTTP, TLS, logins, reading and checking bodies, pages, exports. So a
front answers what the store alone can tell, and calls the owner for the rest.

    standby    waits for the store, takes it over, works on it, and steps back where another has taken it; its row of
               the store says who the owner is, where, and when it was last heard of
    gateway    the owner's side of the calls, behind a port of its own
    messages   what is said there
    front      the service of a front, and its side of the calls
"""
