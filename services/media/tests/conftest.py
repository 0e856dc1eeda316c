"""Media over real servers, with the rights that it has. Open this when a fixture of media's tests isn't found."""

from media_fixtures import *  # noqa: F403  # Fixtures are found by name.
