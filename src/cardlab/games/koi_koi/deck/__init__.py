"""The pictures of the cards of Koi-Koi."""
