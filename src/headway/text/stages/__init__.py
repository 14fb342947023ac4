"""The stages in which `headway.text.preparing` prepares text, range by range."""
