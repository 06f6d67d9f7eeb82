"""Who is asking and what they may do: tokens, people, sessions, a company's login."""
