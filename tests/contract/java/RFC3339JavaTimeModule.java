package org.openapitools.client;

/** Stands for the generated class of this name, which extends classes of the library. */
public class RFC3339JavaTimeModule extends com.fasterxml.jackson.databind.module.SimpleModule {}
